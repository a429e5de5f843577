import { stringify } from "yaml";
import { formatPlatform } from "../address/platform.ts";
import { formatVersionConstraint } from "../address/version-constraint.ts";
import type {
  Configuration,
  OidcConfiguration,
  OriginConfiguration,
} from "./configuration.ts";
import type { TlsChoice } from "../server/tls/certificate-source.ts";
import { formatLimit, limitTable } from "./limits.ts";
import { formatDuration, formatSize } from "../address/units.ts";

/**
 * The effective configuration as YAML that reads back to the same, secrets as the place they come from;
 * comments say which file and proxy are used.
 */
export function formatConfiguration(configuration: Configuration): string {
  const { proxy, source } = configuration;
  const comments = [
    `# ${source ?? "no file: built-in defaults"}`,
    ...(proxy.https ? [`# HTTPS_PROXY: ${proxy.https.origin}`] : []),
    ...(proxy.no === undefined ? [] : [`# NO_PROXY: ${proxy.no}`]),
  ];
  const yaml = stringify(plainConfiguration(configuration), {
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
  return `${comments.map(oneLine).join("\n")}\n${yaml}`;
}

/** The keys whose values differ, such as `limits.stop`; in the order of the schema. */
export function listChangedKeys(
  before: Configuration,
  after: Configuration,
): readonly string[] {
  const [old, now] = [before, after].map((one) =>
    flatten("", { ...plainConfiguration(one), ...secretsOf(one) }),
  );
  const names = new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...names].filter((name) => old?.get(name) !== now?.get(name));
}

/** Lists the secrets that the YAML names by their place alone; they are compared and never shown. */
function secretsOf({ origins, storage: { s3 } }: Configuration) {
  return {
    "the bucket's files": [s3?.ca, s3?.secretAccessKey?.secret],
    "origins' files": Array.from(origins.values(), ({ ca, token }) => [
      ca,
      token?.secret,
    ]),
  };
}

/** The two upper levels by name, and what is below as text. */
function flatten(prefix: string, value: object): Map<string, string> {
  return new Map(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
      const isSection =
        prefix === "" &&
        typeof inner === "object" &&
        inner !== null &&
        !Array.isArray(inner);
      return isSection
        ? [...flatten(`${name}.`, inner)]
        : [[prefix + name, JSON.stringify(inner)] as [string, string]];
    }),
  );
}

function plainConfiguration(from: Configuration) {
  const { listen, storage, discovery, policy, auth } = from;
  return plain("", {
    listen: { ...listen, tls: plainTls(listen.tls) },
    publicUrl: from.publicUrl ?? null,
    storage: {
      directory: storage.directory,
      maxSize: storage.maxSize ?? "unlimited",
      minFree: storage.minFree,
      s3: storage.s3 ? withCaFile(storage.s3) : null,
    },
    origins: Object.fromEntries(
      Array.from(from.origins, ([name, origin]) => [name, plainOrigin(origin)]),
    ),
    discovery: { origin: discovery.origin ?? null },
    freshness: from.freshness,
    offline: from.offline,
    platforms: from.platforms.map(formatPlatform),
    policy: { ...policy, rules: policy.rules.map(plainRule) },
    trust: from.trust,
    auth: {
      // An empty list cannot be read back.
      tokens: auth.tokens.length > 0 ? auth.tokens : undefined,
      archiveUrls: auth.archiveUrls,
      metrics: auth.metrics,
      oidc: plainIssuers(auth.oidc),
    },
    limits: from.limits,
    log: from.log,
  }) as object;
}

/** How the numbers of a key are written. */
const numbers: Readonly<Record<string, (value: number) => string>> = {
  maxSize: formatSize,
  minFree: formatSize,
  versions: formatDuration,
  staleFor: formatDuration,
  notFound: formatDuration,
  minimumAge: formatDuration,
  archiveUrls: formatDuration,
  expires: (moment) => new Date(moment).toISOString(),
  ...Object.fromEntries(
    Object.entries(limitTable).map(([name, limit]) => [
      name,
      (value: number) => formatLimit(limit, value),
    ]),
  ),
};

/** Writes the value of a key, and those in it, in the form in which they are read; a secret as its place. */
function plain(name: string, value: unknown): unknown {
  if (typeof value === "number") return plainNumber(name, value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof URL) return value.href;
  if (Array.isArray(value)) return value.map((one) => plain(name, one));
  if ("source" in value) return plainPlace(String(value.source));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, one]: [string, unknown]) => [key, plain(key, one)]),
  );
}

/** Digits alone are a number in YAML, without quotes. */
function plainNumber(name: string, value: number): string | number {
  const text = numbers[name]?.(value) ?? String(value);
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}

function plainPlace(source: string) {
  const space = source.indexOf(" ");
  return { [source.slice(0, space)]: source.slice(space + 1) };
}

function plainTls({ kind, ...files }: TlsChoice) {
  return kind === "files" ? files : kind;
}

function withCaFile<T extends { readonly caFile: string | undefined }>({
  caFile,
  ...rest
}: T) {
  return { ...rest, ca: caFile };
}

function plainOrigin({ urlConfigured, ...origin }: OriginConfiguration) {
  const url = urlConfigured ? origin.url : undefined;
  return withCaFile({ ...origin, url, hostname: undefined });
}

function plainRule({
  versions,
  minimumAge,
  ...rule
}: Configuration["policy"]["rules"][number]) {
  const range = versions && formatVersionConstraint(versions);
  return { ...rule, versions: range, minimumAge };
}

function plainIssuers(issuers: readonly OidcConfiguration[]) {
  const [first, ...others] = issuers.map((issuer) => ({
    ...withCaFile(issuer),
    claims: issuer.claims.size > 0 ? issuer.claims : undefined,
  }));
  return others.length > 0 ? [first, ...others] : (first ?? null);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
