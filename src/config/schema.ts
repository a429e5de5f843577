import { resolve } from "node:path";
import { z } from "zod";
import type { TlsChoice } from "../server/tls/certificate-source.ts";
import { defaultStorageDirectory, type Surroundings } from "./environment.ts";
import {
  choice,
  leaf,
  optional,
  required,
  section,
  withDefault,
} from "./leaf.ts";
import { expectOneEach, issuerSchema } from "./openid-issuers.ts";
import {
  certificateFile,
  originsSchema,
  readCa,
  secretSchema,
} from "./origins.ts";
import {
  certificateName,
  count,
  duration,
  fingerprint,
  flag,
  httpsUrl,
  keyPrefix,
  listenHost,
  listenPort,
  moment,
  network,
  platform,
  providerPattern,
  remark,
  rulePattern,
  serviceUrl,
  size,
  sizeOfSome,
  sizeOrUnlimited,
  text,
  tlsMode,
  tokenDigest,
  versionConstraint,
} from "./scalars.ts";

/**
 * What no operator has a reason to set: bytes (`rate`: bytes a second), milliseconds, or a number of things. They are
 * part of the configuration so that tests can have others.
 */
const fixedLimits = {
  /** Of a git repository of a module: of each file and of all. */
  gitRepository: 2 ** 30,
  /** Of each process of git. */
  gitMemory: 2 ** 29,
  /** Until an answer of an origin begins. */
  firstByte: 10_000,
  /** Metadata is answered or given up within; clients wait 10 s. */
  answer: 7_000,
  /** At least, over a minute, of origins and clients. */
  rate: 65_536,
  /** Archives that are fetched from one origin at once. */
  fillsPerOrigin: 8,
  /** On SIGTERM, for answers under way. */
  stop: 25_000,
  /** For which an absence that an origin reported is remembered, unless lists of versions are fresh for less. */
  absence: 30_000,
  /** Life of a signed archive URL. */
  archiveUrls: 3_600_000,
};

/** Every key of the YAML, in the order of config.example.yaml, with its default; relative paths start from `folder`. */
export function configurationSchema(folder: string, from: Surroundings) {
  const path = leaf("a path", (name) =>
    resolve(folder, required(/^[^\0]+$/.exec(name)?.[0])),
  );
  return section({
    listen: listenSchema(path),
    publicUrl: optional(httpsUrl),
    storage: storageSchema(path, from),
    database: section({
      url: optional(
        secretSchema(path, from.env).superRefine(({ secret }, context) => {
          if (/^postgres(?:ql)?:/.test(secret) && URL.canParse(secret)) return;
          const message =
            "names no database: expected a URL such as postgres://USER:PASSWORD@HOST/NAME";
          context.addIssue({ code: "custom", message });
        }),
      ),
    }),
    origins: originsSchema(path, from.env),
    freshness: section({
      versions: withDefault(duration, "5m"),
      staleFor: withDefault(duration, "7d"),
    }),
    offline: withDefault(flag, false),
    platforms: withDefault(z.array(platform), []),
    policy: policySchema,
    trust: trustSchema,
    auth: authSchema(path),
    limits: section({
      archive: withDefault(sizeOfSome, "2GiB"),
      connections: withDefault(count, 4096),
    }).transform((written) => ({ ...fixedLimits, ...written })),
    log: section({
      level: withDefault(
        choice("trace", "debug", "info", "warn", "error", "fatal"),
        "info",
      ),
    }),
  }).superRefine(checkTogether);
}

interface Related {
  readonly listen: { readonly tls: TlsChoice };
  readonly database: { readonly url: unknown };
}

/** Checks sections against one another. */
function checkTogether(
  { listen, database }: Related,
  context: z.RefinementCtx,
): void {
  if (database.url === undefined || listen.tls.kind !== "self-signed") return;
  const message =
    'is self-signed: expected { certificate: PATH, key: PATH }, or off behind a balancer that adds TLS, because each daemon on "database.url" would make an authority of its own';
  context.addIssue({ code: "custom", path: ["listen", "tls"], message });
}

function listenSchema(path: z.ZodType<string>) {
  const files = z
    .strictObject({ certificate: path, key: path })
    .transform((pair): TlsChoice => ({ kind: "files", ...pair }));
  return section({
    host: withDefault(listenHost, "127.0.0.1"),
    port: withDefault(listenPort, 8443),
    tls: withDefault<TlsChoice>(z.union([tlsMode, files]), "self-signed"),
    names: withDefault(z.array(certificateName), []),
    trustedProxies: withDefault(z.array(network), []),
  });
}

const policyRule = z.strictObject({
  match: rulePattern,
  action: choice("allow", "deny"),
  versions: optional(versionConstraint),
  minimumAge: optional(duration),
  because: optional(remark),
});

const policySchema = section({
  mode: withDefault(choice("enforce", "report"), "enforce"),
  default: withDefault(choice("allow", "deny"), "allow"),
  minimumAge: withDefault(duration, 0),
  contact: optional(remark),
  rules: withDefault(z.array(policyRule), []),
});

const pinnedKeys = z.strictObject({
  match: providerPattern,
  fingerprints: z.array(fingerprint).nonempty(),
});

const trustSchema = section({
  newKeys: withDefault(
    choice("accept", "accept-first", "refuse"),
    "accept-first",
  ),
  keys: withDefault(z.array(pinnedKeys), []),
});

const clientToken = z.strictObject({
  name: text,
  sha256: tokenDigest,
  expires: optional(moment),
});

function authSchema(path: z.ZodType<string>) {
  const issuer = issuerSchema(path);
  const oidc = z.union([
    z.array(issuer).min(1).superRefine(expectOneEach),
    issuer.transform((one) => [one]),
  ]);
  const written = section({
    tokens: z.array(clientToken).nullish(),
    oidc: optional(oidc),
  }).superRefine(({ tokens, oidc }, context) => {
    // Taking the last token out is not meant to let every client in.
    if (tokens === undefined || tokens?.length || oidc !== undefined) return;
    const message =
      'is empty: expected at least one token, or "auth: off" for a mirror that anybody may ask';
    context.addIssue({ code: "custom", path: ["tokens"], message });
  });
  const off = choice("off").transform(() => written.parse(undefined));
  return withDefault(z.union([off, written]), "off").transform(
    ({ tokens, oidc: issuers }) => ({
      ...{ tokens: tokens ?? [], oidc: issuers ?? [] },
    }),
  );
}

const bucketName = leaf("a bucket's name such as provender-eu", (name) =>
  required(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.exec(name)?.[0]),
);

function storageSchema(path: z.ZodType<string>, from: Surroundings) {
  return section({
    directory: withDefault(path, defaultStorageDirectory(from)),
    maxSize: withDefault(sizeOrUnlimited, "unlimited"),
    minFree: withDefault(size, "1GiB"),
    s3: optional(s3Schema(path, from.env)),
  });
}

export function s3Schema(path: z.ZodType<string>, env: Surroundings["env"]) {
  return z
    .strictObject({
      endpoint: serviceUrl,
      bucket: bucketName,
      region: withDefault(text, "us-east-1"),
      prefix: withDefault(keyPrefix, ""),
      addressing: withDefault(choice("path", "virtual-host"), "path"),
      ca: optional(certificateFile(path)),
      accessKeyId: optional(text),
      secretAccessKey: optional(secretSchema(path, env)),
    })
    .superRefine(({ accessKeyId, secretAccessKey }, context) => {
      if ((accessKeyId === undefined) === (secretAccessKey === undefined))
        return;
      const message =
        'is of no use alone: expected "accessKeyId" and "secretAccessKey", or neither, which takes the keys of the environment, a web identity or the instance';
      const [name] = accessKeyId ? ["accessKeyId"] : ["secretAccessKey"];
      context.addIssue({ code: "custom", path: [name], message });
    })
    .transform(readCa);
}

/** What JSON Schema says of a key, as far as it is used here. */
export interface Known {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Known>>;
  readonly additionalProperties?: Known;
  readonly items?: Known;
  readonly anyOf?: readonly Known[];
}

/** Every key that the schema knows, with its default as it is written: `listen.tls.key`, `origins.*.url`, `trust.keys.*.match`. */
export function listKeys(schema: z.ZodType): ReadonlyMap<string, unknown> {
  return new Map(keysBelow(describeKeys(schema), ""));
}

function keysBelow(known: Known, prefix: string): [string, unknown][] {
  return [known, ...(known.anyOf ?? [])].flatMap((variant) => [
    ...Object.entries(variant.properties ?? {}).flatMap(
      ([key, child]): [string, unknown][] => [
        [prefix + key, child.default],
        ...keysBelow(child, `${prefix}${key}.`),
      ],
    ),
    ...[variant.additionalProperties, variant.items].flatMap((every) =>
      every ? keysBelow(every, `${prefix}*.`) : [],
    ),
  ]);
}

export function describeKeys(schema: z.ZodType): Known {
  return z.toJSONSchema(schema, {
    ...({ io: "input", unrepresentable: "any" } as const),
  }) as Known;
}
