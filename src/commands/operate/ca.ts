import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { failure } from "../../errors/index.ts";
import type { Output } from "../output/report.ts";

/**
 * Runs `provender ca`. It writes the CA of the self-signed certificate to standard output, and the steps that make
 * machines trust it to standard error.
 */
export async function runCa(
  file: string,
  { stdout, stderr }: Output,
): Promise<number> {
  const pem = await readFile(file, "utf8").catch((cause: unknown) => {
    throw failure("no-authority", file, { cause });
  });
  const { fingerprint256, validTo } = parse(file, pem);
  stdout(pem);
  stderr(formatInstructions(fingerprint256, validTo));
  return 0;
}

function parse(file: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw failure("no-authority", file, { cause });
  }
}

function formatInstructions(fingerprint: string, validTo: string): string {
  return `
SHA-256 fingerprint: ${fingerprint}
Valid until ${validTo}. Compare the fingerprint before you trust a copy.

Write it to a file with: provender ca > provender-ca.pem. Then, on each client:

One command      SSL_CERT_FILE=$PWD/provender-ca.pem terraform init
Debian, Ubuntu   sudo cp provender-ca.pem /usr/local/share/ca-certificates/provender-ca.crt && sudo update-ca-certificates
Red Hat, Fedora  sudo cp provender-ca.pem /etc/pki/ca-trust/source/anchors/ && sudo update-ca-trust
macOS            sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain provender-ca.pem
Windows          certutil -addstore -f Root provender-ca.pem (as administrator)
Containers       COPY provender-ca.pem /usr/local/share/ca-certificates/provender-ca.crt
                 RUN update-ca-certificates
                 or mount the file and set SSL_CERT_FILE to its path
`;
}
