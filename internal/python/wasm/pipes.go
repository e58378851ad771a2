package wasm

import "os"

// pipes are the three standard streams of a process.
type pipes struct {
	parent, child [3]*os.File
}

func newPipes() (*pipes, error) {
	p := &pipes{}
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeChild()
			p.closeParent()
			return nil, err
		}
		if i == 0 {
			p.child[i], p.parent[i] = r, w
		} else {
			p.parent[i], p.child[i] = r, w
		}
	}
	return p, nil
}

func (p *pipes) closeChild()  { closeAll(p.child[:]) }
func (p *pipes) closeParent() { closeAll(p.parent[:]) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
