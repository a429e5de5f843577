// Answers each line of JSON {"keys", "document", "signature", "now"} with what Terraform's library says, key after key. The order
// of a map settles between equal user IDs, so that the same line may get another answer.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

type question struct {
	Keys                []string
	Document, Signature []byte
	Now                 int64
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := bufio.NewWriter(os.Stdout)
	defer answers.Flush()
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var asked question
			if err := json.Unmarshal(line, &asked); err != nil {
				panic(err)
			}
			answer, _ := json.Marshal(decide(asked))
			fmt.Fprintln(answers, string(answer))
		}
		if err != nil {
			return
		}
		if lines.Buffered() == 0 {
			answers.Flush()
		}
	}
}

// "ok", "keyExpired", "sigExpired", or why not; a crash is an answer too.
func decide(asked question) (answer string) {
	defer func() {
		if crash := recover(); crash != nil {
			answer = fmt.Sprint("crash: ", crash)
		}
	}()
	config := &packet.Config{Time: func() time.Time { return time.Unix(asked.Now, 0) }}
	for _, key := range asked.Keys {
		keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key))
		if err != nil {
			return "refused: " + err.Error()
		}
		_, err = openpgp.CheckDetachedSignature(keys, bytes.NewReader(asked.Document), bytes.NewReader(asked.Signature), config)
		switch err {
		case nil:
			return "ok"
		case errors.ErrUnknownIssuer:
			continue
		case errors.ErrKeyExpired:
			return "keyExpired"
		case errors.ErrSignatureExpired:
			return "sigExpired"
		default:
			return "refused: " + err.Error()
		}
	}
	return "refused: unknown issuer"
}
