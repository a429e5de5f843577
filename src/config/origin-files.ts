import { X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import { readTextFile, reasonOf } from "./text-file.ts";

interface OriginToken {
  readonly secret: string;
  /** `env NAME` or `file PATH`; fit for messages. */
  readonly source: string;
}

const largestCaFile = 1024 * 1024;
const largestTokenFile = 16 * 1024;

/** The PEM certificates of a CA file, each one parseable; throws what completes `"ca" …`. */
export function readCertificates(path: string): string {
  const { text } = readOrExplain(path, largestCaFile);
  const certificates =
    text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ??
    [];
  if (certificates.length === 0)
    throw new Error(
      `names ${path}, which holds no PEM certificate: expected -----BEGIN CERTIFICATE-----`,
    );
  for (const [index, certificate] of certificates.entries())
    if (!isCertificate(certificate))
      throw new Error(
        `names ${path}, whose certificate ${index + 1} cannot be parsed: export it again as PEM`,
      );
  return certificates.join("\n") + "\n";
}

/** A token from the environment; throws what completes `"token" …`. */
export function tokenFromEnvironment(
  name: string,
  env: NodeJS.ProcessEnv,
): OriginToken {
  const secret = env[name] ?? "";
  if (secret === "")
    throw new Error(
      `names the environment variable ${name}, which is not set: set it, or use { file: PATH }`,
    );
  return parseToken(secret, `env ${name}`);
}

/** A token from a file that no other user can read; throws what completes `"token" …`. */
export function tokenFromFile(
  path: string,
  env: NodeJS.ProcessEnv,
): OriginToken {
  const { text, mode } = readOrExplain(path, largestTokenFile);
  if ((mode & othersMask(path, env)) !== 0)
    throw new Error(
      `names ${path}, which others can read (mode ${mode.toString(8).padStart(4, "0")}): run chmod 600 on it`,
    );
  return parseToken(text, `file ${path}`);
}

/** systemd gives the service its credentials by an ACL, whose mask stands where the group's bits are. */
function othersMask(path: string, env: NodeJS.ProcessEnv): number {
  const credentials = env.CREDENTIALS_DIRECTORY;
  const isCredential =
    credentials !== undefined && resolve(credentials) === dirname(path);
  return isCredential ? 0o037 : 0o077;
}

function parseToken(text: string, source: string): OriginToken {
  const secret = text.trim();
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw new Error(
      `is empty, or has spaces or other than ASCII inside (${source}): expected the bare token`,
    );
  return { secret, source };
}

function readOrExplain(path: string, limit: number) {
  try {
    return readTextFile(path, limit);
  } catch (error) {
    throw new Error(
      `names ${path}, which cannot be read (${reasonOf(error)}): check the path and its permissions`,
      { cause: error },
    );
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
