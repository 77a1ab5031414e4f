package install

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// cursorAt returns surroundings whose home is a new folder, and the file of Cursor there.
func cursorAt(t *testing.T) (Surroundings, Client, string) {
	t.Helper()
	home := t.TempDir()
	client, _ := ByID("cursor")
	s := Surroundings{OS: "linux", Home: home, Cwd: home, Root: home, Getenv: func(string) string { return "" }}
	if err := os.Mkdir(filepath.Join(home, ".cursor"), 0o755); err != nil {
		t.Fatal(err)
	}
	return s, client, filepath.Join(home, ".cursor", "mcp.json")
}

// The client writes its file, too: what it wrote since the change was made is not lost.
func TestWriteSeesChanges(t *testing.T) {
	for _, before := range []string{"", "{}"} {
		s, client, path := cursorAt(t)
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		change, err := client.Install(s, User, testServer)
		if err != nil {
			t.Fatal(err)
		}
		const newer = `{"theirs": 1}`
		if err := os.WriteFile(path, []byte(newer), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := change.Write(); !errors.Is(err, ErrChanged) {
			t.Errorf("write over a newer file: %v, want ErrChanged", err)
		}
		if got, _ := os.ReadFile(path); string(got) != newer {
			t.Errorf("the newer file is now %q", got)
		}
		noneLeft(t, filepath.Dir(path))
	}
}

func TestRemoveSeesChanges(t *testing.T) {
	s, client, path := cursorAt(t)
	change, err := client.Install(s, User, testServer)
	if err != nil || change.Write() != nil {
		t.Fatal(err)
	}
	if change, err = client.Uninstall(s, User, testServer.Name); err != nil || !change.Removes() {
		t.Fatalf("removes %v, error %v", change.Removes(), err)
	}
	if err := os.WriteFile(path, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); !errors.Is(err, ErrChanged) {
		t.Errorf("removal of a newer file: %v, want ErrChanged", err)
	}
}

// noneLeft says that no temporary file is left in a folder.
func noneLeft(t *testing.T, dir string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLinks(t *testing.T) {
	s, client, path := cursorAt(t)
	circle := filepath.Join(s.Home, "circle")
	for _, link := range [][2]string{{circle, path}, {path, circle}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Install(s, User, testServer); !errors.Is(err, ErrLinks) {
		t.Errorf("a circle of links: %v, want ErrLinks", err)
	}
}

// A folder of a project that leads out of it is as much out of it as a file.
func TestLinkedFolderOfProject(t *testing.T) {
	s, client, _ := cursorAt(t)
	s.Root = t.TempDir()
	if err := os.Symlink(filepath.Join(s.Home, ".cursor"), filepath.Join(s.Root, ".cursor")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Install(s, Project, testServer); !errors.Is(err, ErrOutside) {
		t.Errorf("install: %v, want ErrOutside", err)
	}
	s.Root = s.Home
	if _, err := client.Install(s, Project, testServer); err != nil {
		t.Errorf("install inside: %v", err)
	}
}

func TestLargeFile(t *testing.T) {
	s, client, path := cursorAt(t)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(maxFileBytes + 1); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Install(s, User, testServer); !errors.Is(err, ErrLarge) {
		t.Errorf("install: %v, want ErrLarge", err)
	}
}
