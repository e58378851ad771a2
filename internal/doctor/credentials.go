package doctor

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// looked is how many entries FindCredentials reads at most, so that a cache with a million files,
// or a program that was installed into a huge folder, does not stall doctor.
const looked = 20_000

// depth is how many folders below the given one are searched. Credentials that matter lie near the
// top; content-addressed files lie deeper and have digests for names.
const depth = 3

// byName maps file names, lower case, to what they are known to hold.
func byName(name string) string {
	switch name {
	case ".env":
		return "environment file"
	case ".npmrc", ".yarnrc.yml":
		return "package manager login"
	case ".pypirc":
		return "package index login"
	case ".netrc", "_netrc":
		return "logins for hosts"
	case ".git-credentials":
		return "git logins"
	case ".pgpass", ".my.cnf":
		return "database login"
	case ".vault-token", ".dockercfg", ".dockerconfigjson":
		return "access token"
	case "kubeconfig":
		return "cluster login"
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk":
		return "private SSH key"
	case "application_default_credentials.json", "service-account.json", "service_account.json", "credentials.db", "accesstokens.json", "msal_token_cache.json":
		return "cloud credentials"
	case "secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml":
		return "secrets file"
	}
	switch {
	case strings.HasPrefix(name, ".env.") && !isTemplate(name):
		return "environment file"
	case strings.HasSuffix(name, ".pem") && strings.Contains(name, "key"): // certificates alone are public
		return "private key"
	case strings.HasSuffix(name, ".p12"), strings.HasSuffix(name, ".pfx"), strings.HasSuffix(name, ".kdbx"):
		return "key store"
	}
	return ""
}

// isTemplate spares the files that projects keep on purpose to show which names to set.
func isTemplate(name string) bool {
	switch path.Ext(name) {
	case ".example", ".sample", ".template", ".dist":
		return true
	}
	return false
}

// byFolder names files by the folder that they lie in, both lower case.
func byFolder(folder, name string) string {
	switch folder + "/" + name {
	case ".aws/credentials", ".aws/config":
		return "AWS credentials"
	case ".docker/config.json":
		return "registry logins"
	case ".kube/config":
		return "cluster login"
	case "gh/hosts.yml":
		return "GitHub login"
	case "gcloud/credentials.db", "gcloud/access_tokens.db":
		return "cloud credentials"
	}
	return ""
}

// FindCredentials lists credential files in folder, by name only: it opens none of them. Links are
// named but not followed. A folder that this user may not read is passed over: the server, which is
// the same user, could not give it away either.
func FindCredentials(folder fs.FS, shown string) ([]Credential, error) {
	var found []Credential
	seen := 0
	err := fs.WalkDir(folder, ".", func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		if seen++; seen > looked {
			return fs.SkipAll
		}
		if d.IsDir() {
			if p != "." && strings.Count(p, "/")+1 > depth {
				return fs.SkipDir
			}
			return nil
		}
		name := strings.ToLower(d.Name())
		reason := byName(name)
		if reason == "" {
			reason = byFolder(strings.ToLower(path.Base(path.Dir(p))), name)
		}
		if reason != "" {
			found = append(found, Credential{Path: path.Join(shown, p), Reason: reason})
		}
		return nil
	})
	return found, err
}
