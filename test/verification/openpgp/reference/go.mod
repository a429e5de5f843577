module reference

go 1.24

require github.com/ProtonMail/go-crypto v1.1.3

require (
	github.com/cloudflare/circl v1.3.7 // indirect
	golang.org/x/crypto v0.17.0 // indirect
	golang.org/x/sys v0.16.0 // indirect
)
