// Reads archives as Terraform's go-getter does: one JSON line in, one out.
package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
)

type question struct {
	Format string `json:"format"`
	Bytes  []byte `json:"bytes"`
}

type member struct {
	Name   []byte `json:"name"`
	Kind   string `json:"kind"`
	Size   int64  `json:"size"`
	Sha256 string `json:"sha256"`
}

type answer struct {
	Members []member `json:"members"`
	Error   string   `json:"error"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		var told answer
		if asked.Format == "zip" {
			err = readZip(asked.Bytes, &told)
		} else {
			err = readTar(asked.Bytes, &told)
		}
		if err != nil {
			told.Error = err.Error()
		}
		if err := out.Encode(told); err != nil {
			panic(err)
		}
	}
}

func digest(content io.Reader) (string, int64, error) {
	sum := sha256.New()
	size, err := io.Copy(sum, content)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

func readTar(archive []byte, told *answer) error {
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	reader := tar.NewReader(unpacked)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		read := member{Name: []byte(header.Name), Size: header.Size}
		switch {
		case header.FileInfo().IsDir():
			read.Kind = "directory"
		case header.Typeflag == tar.TypeSymlink:
			read.Kind = "symbolic link"
		case header.Typeflag == tar.TypeLink:
			read.Kind = "hard link"
		case header.FileInfo().Mode().IsRegular():
			read.Kind = "file"
		default:
			read.Kind = "device"
		}
		if read.Sha256, read.Size, err = digest(reader); err != nil {
			return err
		}
		told.Members = append(told.Members, read)
	}
}

func readZip(archive []byte, told *answer) error {
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	for _, file := range reader.File {
		read := member{Name: []byte(file.Name), Kind: "file"}
		if file.FileInfo().IsDir() {
			read.Kind = "directory"
		} else if file.Mode()&fs.ModeSymlink != 0 {
			read.Kind = "symbolic link"
		} else if !file.Mode().IsRegular() {
			read.Kind = "device"
		}
		content, err := file.Open()
		if err != nil {
			return err
		}
		if read.Sha256, read.Size, err = digest(content); err != nil {
			return err
		}
		told.Members = append(told.Members, read)
	}
	return nil
}
