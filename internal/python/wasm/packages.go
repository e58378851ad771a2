package wasm

import (
	"slices"
	"strings"

	"sallyport.dev/sallyport/internal/python"
)

// bundled are the distributions inside the pinned interpreter, as its own list of contents names
// them; setup fails when one of their modules cannot be imported. C libraries are left out.
//
// To pin another wheel: copy the Python packages from its MANIFEST.
var bundled = []struct{ name, version, modules string }{
	{"attrs", "26.1.0", "attr attrs"},
	{"beautifulsoup4", "4.15.0", "bs4"},
	{"charset-normalizer", "3.5.2", "charset_normalizer"},
	{"cloudpickle", "3.1.2", "cloudpickle"},
	{"contourpy", "1.4.0", "contourpy"},
	{"cycler", "0.12.1", "cycler"},
	{"defusedxml", "0.7.1", "defusedxml"},
	{"et-xmlfile", "2.0.0", "et_xmlfile"},
	{"fonttools", "4.67.0", "fontTools"},
	{"formulaic", "1.2.2", "formulaic"},
	{"html5lib", "1.1", "html5lib"},
	{"interface-meta", "2.0.1", "interface_meta"},
	{"jinja2", "3.1.6", "jinja2"},
	{"joblib", "1.6.0", "joblib"},
	{"kiwisolver", "1.5.1", "kiwisolver"},
	{"lxml", "6.1.3", "lxml"},
	{"markupsafe", "3.0.4", "markupsafe"},
	{"matplotlib", "3.11.2", "matplotlib mpl_toolkits"},
	{"more-itertools", "11.2.1", "more_itertools"},
	{"mpmath", "1.3.0", "mpmath"},
	{"narwhals", "2.27.1", "narwhals"},
	{"networkx", "3.7", "networkx"},
	{"numpy", "2.5.2", "numpy"},
	{"openpyxl", "3.1.5", "openpyxl"},
	{"packaging", "26.3", "packaging"},
	{"pandas", "3.0.6", "pandas"},
	{"patsy", "1.0.3", "patsy"},
	{"pillow", "13.0.0", "PIL"},
	{"pyparsing", "3.3.3", "pyparsing"},
	{"pypdf", "6.21.1", "pypdf"},
	{"python-dateutil", "2.9.0.post0", "dateutil"},
	{"pyyaml", "6.0.3", "yaml"},
	{"regex", "2026.9.29", "regex"},
	{"reportlab", "5.0.1", "reportlab"},
	{"scikit-learn", "1.9.1", "sklearn"},
	{"scipy", "1.18.1", "scipy"},
	{"seaborn", "0.13.2", "seaborn"},
	{"six", "1.17.0", "six"},
	{"soupsieve", "3.0.3", "soupsieve"},
	{"statsmodels", "0.15.0", "statsmodels"},
	{"sympy", "1.14.0", "sympy"},
	{"tabulate", "0.10.0", "tabulate"},
	{"threadpoolctl", "3.7.0", "threadpoolctl"},
	{"tomli-w", "1.2.0", "tomli_w"},
	{"toolz", "1.2.0", "toolz tlz"},
	{"tqdm", "4.70.1", "tqdm"},
	{"typing-extensions", "4.16.0", "typing_extensions"},
	{"tzdata", "2026.5", "tzdata"},
	{"webencodings", "0.6.1", "webencodings"},
	{"wrapt", "2.5.1", "wrapt"},
	{"xlrd", "2.0.2", "xlrd"},
	{"xlsxwriter", "3.2.9", "xlsxwriter"},
	{"xmltodict", "1.0.4", "xmltodict"},
}

// bundledPackages are the packages of the pinned interpreter.
func bundledPackages() []python.Package {
	out := make([]python.Package, 0, len(bundled))
	for _, b := range bundled {
		out = append(out, python.Package{Name: b.name, Version: b.version, Modules: strings.Fields(b.modules)})
	}
	return out
}

// defaultPreload is what an image imports unless told otherwise: all of it, numpy first, since
// the image's own corrections to it must stand before anything else uses it.
func defaultPreload() []string {
	out := []string{"numpy", "pandas", "scipy", "matplotlib"}
	for _, p := range bundledPackages() {
		for _, m := range p.Modules {
			if !slices.Contains(out, m) && m != "tzdata" && m != "mpl_toolkits" {
				out = append(out, m)
			}
		}
	}
	return out
}
