import { stringify } from "yaml";
import { formatPlatform } from "../address/platform.ts";
import { formatVersionConstraint } from "../address/version-constraint.ts";
import type {
  Configuration,
  OidcConfiguration,
  OriginConfiguration,
  TlsConfiguration,
} from "./configuration.ts";
import { formatLimit, limitTable } from "./limits.ts";
import { formatDuration, formatSize } from "./units.ts";

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

function plainConfiguration(from: Configuration) {
  const { listen, storage, freshness, policy } = from;
  return {
    listen: { ...listen, tls: plainTls(listen.tls) },
    storage: {
      directory: storage.directory,
      maxSize:
        storage.maxSize === undefined
          ? "unlimited"
          : plain(formatSize(storage.maxSize)),
      minFree: plain(formatSize(storage.minFree)),
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

function plainTls(tls: TlsConfiguration) {
  return tls.kind === "files"
    ? { certificate: tls.certificate, key: tls.key }
    : tls.kind;
}

function plainOrigin(origin: OriginConfiguration) {
  const { url, networkMirror, caFile, token } = origin;
  return {
    ...(origin.urlConfigured && { url: url.href }),
    ...(networkMirror && { networkMirror: networkMirror.href }),
    ...(caFile !== undefined && { ca: caFile }),
    ...(token && { token: plainToken(token.source) }),
    signatures: origin.signatures,
    verification: origin.verification,
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
    rules: policy.rules.map(({ match, action, versions, minimumAge }) => ({
      match,
      action,
      ...(versions && { versions: formatVersionConstraint(versions) }),
      ...(minimumAge !== undefined && {
        minimumAge: plainDuration(minimumAge),
      }),
    })),
  };
}

function plainAuth(auth: Configuration["auth"]) {
  return {
    tokens: auth.tokens.map(({ name, sha256, expires }) => ({
      name,
      sha256,
      ...(expires !== undefined && {
        expires: new Date(expires).toISOString(),
      }),
    })),
    archiveUrls: plainDuration(auth.archiveUrls),
    metrics: auth.metrics,
    oidc: auth.oidc ? plainOidc(auth.oidc) : null,
  };
}

function plainOidc(oidc: OidcConfiguration) {
  const { issuer, audience, clientId, scopes, caFile } = oidc;
  const ca = caFile === undefined ? {} : { ca: caFile };
  return { issuer: issuer.href, audience, clientId, scopes, ...ca };
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
