import { X509Certificate } from "node:crypto";
import { dirname, resolve } from "node:path";
import * as z from "zod";
import { type Hostname, parseHostname } from "../address/hostname.ts";
import type { Surroundings } from "./environment.ts";
import {
  choice,
  converted,
  describeKind,
  flag,
  httpsUrl,
  leaf,
  matching,
  optional,
  section,
  withDefault,
} from "./leaf.ts";
import { readTextFile, reasonOf } from "./source.ts";

/** OpenTofu's registry has providers without a signing key. */
const builtIn: Readonly<Record<string, unknown>> = {
  "registry.terraform.io": {},
  "registry.opentofu.org": { signatures: "when-published" },
};

/**
 * `origins` as it is written, and what is built in before it; the settings that are written for a built-in hostname
 * take the place of its own, and `off` takes it out.
 */
export function addBuiltInOrigins(written: unknown): unknown {
  const isMapping = written?.constructor === Object;
  return isMapping ? { ...builtIn, ...written } : (written ?? builtIn);
}

type WrittenOrigin = z.output<ReturnType<typeof originSchema>>;

export function originsSchema(
  path: z.ZodType<string>,
  env: Surroundings["env"],
) {
  const origin = z.union([choice("off"), originSchema(path, env)]);
  const record = z.record(z.string(), origin);
  const merged = z.preprocess(addBuiltInOrigins, record);
  return merged.transform((written, context) => {
    const origins = new Map<Hostname, ReturnType<typeof makeOrigin>>();
    for (const [key, origin] of Object.entries(written))
      try {
        if (origin === "off") {
          if (!Object.hasOwn(builtIn, key))
            throw new Error("is off, and is not built in: leave it out");
          continue;
        }
        const made = makeOrigin(key, origin);
        if (origins.has(made.hostname))
          throw new Error(
            `is ${made.hostname} once more: leave one of them out`,
          );
        origins.set(made.hostname, made);
      } catch (error) {
        const { message } = error as Error;
        context.addIssue({ code: "custom", path: [key], message });
      }
    return origins;
  });
}

/** A file of certificates, which is read. */
export function certificateFile(path: z.ZodType<string>) {
  return converted(path, readCertificates);
}

/** Builds the schema of an origin. Files below `path` are never read or written as the store's own. */
function originSchema(path: z.ZodType<string>, env: Surroundings["env"]) {
  return section({
    url: optional(httpsUrl),
    directory: optional(path),
    ca: optional(certificateFile(path)),
    token: optional(secretSchema(path, env)),
    signatures: withDefault(
      choice("required", "when-published", "off"),
      "required",
    ),
    profile: withDefault(
      choice("terraform", "opentofu", "enforce", "strict"),
      "terraform",
    ),
    allowPrivateAddresses: withDefault(flag, false),
  });
}

const secretInPlace = leaf<never>(
  "{ env: NAME } or { file: PATH }, because a secret is never written here",
  () => undefined,
  describeKind,
);

/** Does not show the value: the secret itself may stand there. */
const variableName = matching(
  "the name of an environment variable",
  /^[A-Za-z_][A-Za-z0-9_]*$/,
  describeKind,
);

/** A secret by the place where it is. */
export function secretSchema(
  path: z.ZodType<string>,
  env: Surroundings["env"],
) {
  const written = z.strictObject({
    env: optional(variableName),
    file: optional(path),
  });
  const read = converted(written, ({ env: name, file }) => {
    if ((name === undefined) === (file === undefined))
      throw new Error("must be one of { env: NAME } and { file: PATH }");
    if (file !== undefined) return readTokenFile(file, env);
    const secret = env[name ?? ""] ?? "";
    if (secret === "")
      throw new Error(
        `names the environment variable ${name}, which is not set: set it, or use { file: PATH }`,
      );
    return parseToken(secret, `env ${name}`);
  });
  return z.union([secretInPlace, read]);
}

/** Throws an Error whose message completes `"HOSTNAME" …`. */
export function makeOrigin(key: string, written: WrittenOrigin) {
  const hostname = parseOriginHostname(key);
  const { url, ca, token, directory } = written;
  const places = Object.entries({ url, ca, token });
  const [beside] = places.find(([, value]) => value !== undefined) ?? [];
  if (directory !== undefined && beside !== undefined)
    throw new Error(
      `has "directory" and "${beside}": a folder is not asked over the network, leave one of them out`,
    );
  return {
    ...written,
    hostname,
    /** Where service discovery starts; ends in a slash. */
    url: written.url ?? new URL(`https://${hostname}/`),
    /** The operator wrote `url`, so its host and port may be asked even if they are private. */
    urlConfigured: written.url !== undefined,
  };
}

function parseOriginHostname(key: string): Hostname {
  try {
    const hostname = parseHostname(key);
    // Throws for what only looks like a name, such as 256.1.1.1.
    new URL(`https://${hostname}/`);
    return hostname;
  } catch (error) {
    throw new Error(
      "is not a hostname: expected lower-case labels and an optional port such as registry.example.com:8443",
      { cause: error },
    );
  }
}

interface OriginToken {
  readonly secret: string;
  /** `env NAME` or `file PATH`; fit for messages. */
  readonly source: string;
}

const largestCaFile = 1024 * 1024;
const largestTokenFile = 16 * 1024;

/** The PEM certificates of a CA file, each one parseable. */
function readCertificates(path: string): string {
  const { text } = readOrExplain(path, largestCaFile);
  const certificates =
    text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ??
    [];
  if (certificates.length === 0)
    throw new Error(
      `names ${path}, which holds no PEM certificate: expected -----BEGIN CERTIFICATE-----`,
    );
  for (const [index, certificate] of certificates.entries())
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw new Error(
        `names ${path}, whose certificate ${index + 1} cannot be parsed: export it again as PEM`,
        { cause },
      );
    }
  return certificates.join("\n") + "\n";
}

/** A token from a file that no other user can read. */
function readTokenFile(path: string, env: NodeJS.ProcessEnv): OriginToken {
  const { text, mode } = readOrExplain(path, largestTokenFile);
  // systemd gives the service its credentials by an ACL, whose mask stands where the group's bits are.
  const credentials = env.CREDENTIALS_DIRECTORY;
  const isCredential =
    credentials !== undefined && resolve(credentials) === dirname(path);
  if ((mode & (isCredential ? 0o037 : 0o077)) !== 0)
    throw new Error(
      `names ${path}, which others can read (mode ${mode.toString(8).padStart(4, "0")}): run chmod 600 on it`,
    );
  return parseToken(text, `file ${path}`);
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
