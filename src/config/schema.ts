import { isIP } from "node:net";
import { resolve } from "node:path";
import * as z from "zod";
import { parseSha256 } from "../address/hash.ts";
import { isCertificateName } from "../address/hostname.ts";
import { parsePlatform } from "../address/platform.ts";
import {
  parsePattern,
  parseProviderPattern,
} from "../address/policy-pattern.ts";
import { parseDuration, parseSize } from "../address/units.ts";
import { parseVersionConstraint } from "../address/version-constraint.ts";
import type { TlsChoice } from "../server/tls/certificate-source.ts";
import { defaultStorageDirectory, type Surroundings } from "./environment.ts";
import {
  choice,
  describeKind,
  flag,
  httpsUrl,
  leaf,
  matching,
  optional,
  section,
  text,
  url,
  withDefault,
} from "./leaf.ts";
import { expectOneEach, issuerSchema } from "./openid-issuers.ts";
import { certificateFile, originsSchema, secretSchema } from "./origins.ts";

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

/** Bytes, and not none. */
const sizeOfSome = leaf(
  "a size above 0 such as 2GiB",
  (text) => parseSize(text) || undefined,
);

/** A whole number of things, and not none. */
const count = leaf("a whole number of at least 1 such as 4096", (text) =>
  /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : undefined,
);

/** Every key of the YAML, in the order of config.example.yaml, with its default; relative paths start from `folder`. */
export function configurationSchema(folder: string, from: Surroundings) {
  const path = leaf("a path", (name) =>
    /^[^\0]+$/.test(name) ? resolve(folder, name) : undefined,
  );
  return section({
    listen: listenSchema(path),
    publicUrl: optional(httpsUrl),
    storage: section({
      directory: withDefault(path, defaultStorageDirectory(from)),
      maxSize: withDefault(sizeOrUnlimited, "unlimited"),
      minFree: withDefault(size, "1GiB"),
      s3: optional(s3Schema(path, from.env)),
    }),
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
    platforms: withDefault(
      z.array(leaf("OS_ARCH such as linux_amd64", parsePlatform)),
      [],
    ),
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
  }).superRefine(({ listen, database }, context) => {
    if (database.url === undefined || listen.tls.kind !== "self-signed") return;
    const message =
      'is self-signed: expected { certificate: PATH, key: PATH }, or off behind a balancer that adds TLS, because each daemon on "database.url" would make an authority of its own';
    context.addIssue({ code: "custom", path: ["listen", "tls"], message });
  });
}

const listenHost = leaf(
  "an address such as 127.0.0.1, :: or localhost",
  (host) =>
    isIP(host) > 0 || /^[A-Za-z][A-Za-z0-9.-]*$/.test(host) ? host : undefined,
);

const listenPort = leaf(
  "a port from 0 (any free one) to 65535 such as 8443",
  (digits) =>
    /^[0-9]{1,5}$/.test(digits) && Number(digits) <= 65535
      ? Number(digits)
      : undefined,
);

const certificateName = leaf(
  "a name or an address such as mirror.example.com or 192.0.2.1",
  (name) => (isCertificateName(name.toLowerCase()) ? name : undefined),
);

const prefix = z.union([z.cidrv4(), z.cidrv6()]);

/** An address, or a network as address and prefix length. */
const network = leaf(
  "an address or a network such as 192.0.2.1 or 10.0.0.0/8",
  (text) => (isIP(text) > 0 ? text : prefix.parse(text)),
);

const tlsMode = leaf(
  "self-signed, off or { certificate: PATH, key: PATH }",
  (mode): TlsChoice | undefined =>
    mode === "self-signed" || mode === "off" ? { kind: mode } : undefined,
);

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

/** Milliseconds. */
const duration = leaf(
  "a duration such as 500ms, 30s, 5m, 1h, 7d or 0",
  parseDuration,
);

/** For people who are refused; clients print it from a reason phrase, which is ASCII. */
const remark = matching(
  "one line of at most 120 printable ASCII characters",
  /^(?=\S)[ -~]{1,120}(?<=\S)$/,
);

const rulePattern = leaf(
  "HOSTNAME/NAMESPACE/TYPE such as registry.terraform.io/hashicorp/*, or HOSTNAME/NAMESPACE/NAME/SYSTEM for modules",
  parsePattern,
);

const policyRule = z.strictObject({
  match: rulePattern,
  action: choice("allow", "deny"),
  versions: optional(
    leaf(
      'a version constraint such as "~> 5.0" or ">= 1.2, < 2.0"',
      parseVersionConstraint,
    ),
  ),
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

const providerPattern = leaf(
  "HOSTNAME/NAMESPACE/TYPE such as registry.terraform.io/hashicorp/*",
  parseProviderPattern,
);

/** Upper case. */
const fingerprint = leaf(
  "a full fingerprint of 40 or 64 hexadecimal digits such as C874011F0AB405110D02105534365D9472D7468F",
  (digits) =>
    /^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.exec(digits)?.[0].toUpperCase(),
);

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

/** Does not show the value: the token itself may stand there. */
const tokenDigest = leaf(
  "the SHA-256 of the token, 64 hexadecimal digits as sha256sum prints them",
  parseSha256,
  describeKind,
);

/** Milliseconds since 1970; a date alone is its first moment in UTC. */
const moment = leaf(
  "a date such as 2027-01-31 or 2027-01-31T12:00:00Z",
  (when) =>
    Date.parse(
      z.union([z.iso.date(), z.iso.datetime({ offset: true })]).parse(when),
    ),
);

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
    ({ tokens, oidc }) => ({ tokens: tokens ?? [], oidc: oidc ?? [] }),
  );
}

/** Bytes. */
const size = leaf("a size such as 512MiB or 200GiB", parseSize);

/** Bytes; undefined is unlimited. */
const sizeOrUnlimited = leaf("unlimited or a size such as 200GiB", (text) =>
  text === "unlimited" ? Infinity : parseSize(text),
).transform((bytes) => (bytes === Infinity ? undefined : bytes));

/** Ends in a slash, unless it is empty. */
const keyPrefix = leaf("a prefix of keys such as team/provender", (prefix) => {
  const whole = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return /^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)*$/.exec(whole)?.[0];
});

/** Also one without TLS, on networks that the operator trusts. */
const serviceUrl = url(
  "an https or http URL such as https://s3.eu-central-1.amazonaws.com/ without user, query or fragment",
  ["https:", "http:"],
);

export function s3Schema(path: z.ZodType<string>, env: Surroundings["env"]) {
  return z
    .strictObject({
      endpoint: serviceUrl,
      bucket: matching(
        "a bucket's name such as provender-eu",
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      ),
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
    });
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
