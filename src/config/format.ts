import { stringify } from "yaml";
import { formatPlatform } from "../address/platform.ts";
import { formatVersionConstraint } from "../address/version-constraint.ts";
import type {
  ClientToken,
  Configuration,
  OidcConfiguration,
  OriginConfiguration,
  S3Configuration,
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
    "the bucket's files": [s3?.ca, s3?.keys?.secretAccessKey.secret],
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
  const { listen, storage, freshness, policy } = from;
  return {
    listen: { ...listen, tls: plainTls(listen.tls) },
    publicUrl: from.publicUrl?.href ?? null,
    storage: {
      directory: storage.directory,
      maxSize:
        storage.maxSize === undefined
          ? "unlimited"
          : plain(formatSize(storage.maxSize)),
      minFree: plain(formatSize(storage.minFree)),
      s3: storage.s3 ? plainS3(storage.s3) : null,
    },
    origins: Object.fromEntries(
      Array.from(from.origins, ([name, origin]) => [name, plainOrigin(origin)]),
    ),
    discovery: { origin: from.discovery.origin ?? null },
    freshness: {
      versions: plainDuration(freshness.versions),
      staleFor: plainDuration(freshness.staleFor),
      notFound: plainDuration(freshness.notFound),
    },
    offline: from.offline,
    platforms: from.platforms.map(formatPlatform),
    policy: plainPolicy(policy),
    trust: from.trust,
    auth: plainAuth(from.auth),
    limits: plainLimits(from.limits),
    log: from.log,
  };
}

function plainS3({ endpoint, keys, caFile, ...rest }: S3Configuration) {
  const { bucket, region, prefix, addressing } = rest;
  const place = { bucket, region, prefix, addressing };
  return {
    ...{ endpoint: endpoint.href, ...place },
    ...(caFile !== undefined && { ca: caFile }),
    ...(keys && {
      accessKeyId: keys.accessKeyId,
      secretAccessKey: plainToken(keys.secretAccessKey.source),
    }),
  };
}

function plainTls(tls: TlsChoice) {
  return tls.kind === "files"
    ? { certificate: tls.certificate, key: tls.key }
    : tls.kind;
}

function plainOrigin(origin: OriginConfiguration) {
  const { url, networkMirror, directory, caFile, token } = origin;
  return {
    ...(origin.urlConfigured && { url: url.href }),
    ...(networkMirror && { networkMirror: networkMirror.href }),
    ...(directory !== undefined && { directory }),
    ...(caFile !== undefined && { ca: caFile }),
    ...(token && { token: plainToken(token.source) }),
    signatures: origin.signatures,
    verification: origin.verification,
    reportedHashes: origin.reportedHashes,
    allowPrivateAddresses: origin.allowPrivateAddresses,
  };
}

function plainToken(source: string) {
  const space = source.indexOf(" ");
  return { [source.slice(0, space)]: source.slice(space + 1) };
}

function plainPolicy(policy: Configuration["policy"]) {
  return {
    ...policy,
    minimumAge: plainDuration(policy.minimumAge),
    rules: policy.rules.map(({ versions, minimumAge, ...rule }) => ({
      ...rule,
      ...(versions && { versions: formatVersionConstraint(versions) }),
      ...(minimumAge !== undefined && {
        minimumAge: plainDuration(minimumAge),
      }),
    })),
  };
}

function plainAuth(auth: Configuration["auth"]) {
  return {
    // An empty list cannot be read back.
    ...(auth.tokens.length > 0 && { tokens: auth.tokens.map(plainClient) }),
    archiveUrls: plainDuration(auth.archiveUrls),
    metrics: auth.metrics,
    oidc: plainIssuers(auth.oidc),
  };
}

function plainClient({ name, sha256, expires }: ClientToken) {
  const until = expires && { expires: new Date(expires).toISOString() };
  return { name, sha256, ...until };
}

function plainIssuers(issuers: readonly OidcConfiguration[]) {
  const [first, ...others] = issuers.map(plainOidc);
  return others.length > 0 ? [first, ...others] : (first ?? null);
}

function plainOidc(oidc: OidcConfiguration) {
  const { issuer, audience, clientId, scopes, claims, caFile } = oidc;
  return {
    ...{ issuer: issuer.href, audience },
    ...(clientId !== undefined && { clientId }),
    scopes,
    ...(claims.size > 0 && { claims: Object.fromEntries(claims) }),
    ...(caFile !== undefined && { ca: caFile }),
  };
}

function plainLimits(limits: Configuration["limits"]) {
  const names = Object.keys(limitTable) as (keyof typeof limitTable)[];
  return Object.fromEntries(
    names.map((name) => [
      name,
      plain(formatLimit(limitTable[name], limits[name])),
    ]),
  );
}

function plainDuration(milliseconds: number): string | number {
  return plain(formatDuration(milliseconds));
}

/** Digits alone are a number in YAML, without quotes. */
function plain(text: string): string | number {
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
