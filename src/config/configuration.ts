import type { Hostname } from "../address/hostname.ts";
import type { Platform } from "../address/platform.ts";
import type { VersionConstraint } from "../address/version-constraint.ts";
import type { TlsChoice } from "../server/tls/certificate-source.ts";
import type { BucketSettings } from "../store/bucket/bucket-settings.ts";
import type { LogSettings } from "../telemetry/logger.ts";
import type { Limits } from "./limits.ts";

/** The effective configuration: parsed once, frozen; sizes in bytes, durations in milliseconds, paths absolute. */
export interface Configuration {
  readonly listen: ListenConfiguration;
  /** Where clients find this mirror; ends in a slash. undefined is what each request says. */
  readonly publicUrl: URL | undefined;
  readonly storage: StorageConfiguration;
  /** The hostnames that are served; every other one is refused. */
  readonly origins: ReadonlyMap<Hostname, OriginConfiguration>;
  readonly discovery: DiscoveryConfiguration;
  readonly freshness: FreshnessConfiguration;
  readonly offline: boolean;
  readonly platforms: readonly Platform[];
  readonly policy: PolicyConfiguration;
  readonly trust: TrustConfiguration;
  readonly auth: AuthConfiguration;
  readonly limits: Limits;
  readonly log: LogSettings;
  /** From HTTPS_PROXY and NO_PROXY, or their lower-case forms; the URL may hold credentials. */
  readonly proxy: {
    readonly https: URL | undefined;
    readonly no: string | undefined;
  };
  /** From NOTIFY_SOCKET and WATCHDOG_USEC (sd_notify(3), sd_watchdog_enabled(3)). */
  readonly notify: {
    readonly socket: string | undefined;
    readonly watchdogMs: number | undefined;
  };
  /** From PATH: where `git` and `ssh` are looked for. */
  readonly searchPath: string;
  /** The file that was read; undefined when there is none. */
  readonly source: string | undefined;
}

interface ListenConfiguration {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly tls: TlsChoice;
  /** What clients call this daemon, beside its own name and address: in the self-signed certificate, the first of them in what is printed for clients. */
  readonly names: readonly string[];
  /** Addresses and networks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

interface StorageConfiguration {
  readonly directory: string;
  /** undefined is unlimited. */
  readonly maxSize: number | undefined;
  readonly minFree: number;
  /** The bucket that replicas share; undefined where the directory is all there is. */
  readonly s3: S3Configuration | undefined;
}

export interface S3Configuration extends Omit<
  BucketSettings,
  "pathStyle" | "keys"
> {
  readonly addressing: "path" | "virtual-host";
  /** From which `ca` was read. */
  readonly caFile: string | undefined;
  /** undefined: those of the environment, a web identity or the instance. */
  readonly keys:
    | {
        readonly accessKeyId: string;
        readonly secretAccessKey: OriginToken;
      }
    | undefined;
}

export interface OriginConfiguration {
  readonly hostname: Hostname;
  /** Where service discovery starts; ends in a slash. */
  readonly url: URL;
  /** The operator wrote `url`, so its host and port may be asked even if they are private. */
  readonly urlConfigured: boolean;
  readonly networkMirror: URL | undefined;
  /** What stands for the registry, which then is not asked over the network. */
  readonly folder: OriginFolderPlace | undefined;
  /** PEM certificates, each of them parseable, read from `caFile`. */
  readonly ca: string | undefined;
  readonly caFile: string | undefined;
  readonly token: OriginToken | undefined;
  readonly signatures: "required" | "when-published" | "off";
  readonly verification: "terraform" | "opentofu" | "enforce" | "strict";
  /** Whether clients are told an h1 that the origin reports unsigned. */
  readonly reportedHashes: "publish" | "withhold";
  readonly allowPrivateAddresses: boolean;
}

export interface OriginFolderPlace {
  readonly directory: string;
}

export interface OriginToken {
  readonly secret: string;
  /** `env NAME` or `file PATH`; fit for messages. */
  readonly source: string;
}

interface DiscoveryConfiguration {
  /** One of `origins`; undefined is the first of them. */
  readonly origin: Hostname | undefined;
}

interface FreshnessConfiguration {
  readonly versions: number;
  readonly staleFor: number;
  readonly notFound: number;
}

interface PolicyConfiguration {
  /** `report`: what the policy would refuse is told, and served. */
  readonly mode: "enforce" | "report";
  readonly default: "allow" | "deny";
  readonly otherHosts: "refuse" | "not-found";
  readonly minimumAge: number;
  readonly undated: "allow" | "hold";
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  /** HOSTNAME/NAMESPACE/TYPE with `*` as a wildcard inside each part. */
  readonly match: string;
  readonly action: "allow" | "deny";
  readonly versions: VersionConstraint | undefined;
  readonly minimumAge: number | undefined;
}

interface TrustConfiguration {
  readonly newKeys: "accept" | "accept-first" | "refuse";
  readonly keys: readonly PinnedKeys[];
}

interface PinnedKeys {
  readonly match: string;
  /** Full fingerprints of primary keys: 40 or 64 upper-case hexadecimal digits. */
  readonly fingerprints: readonly string[];
}

interface AuthConfiguration {
  readonly tokens: readonly ClientToken[];
  /** Above 0 and at most 365 days. */
  readonly archiveUrls: number;
  /** Who may read `/metrics` when authentication is on. */
  readonly metrics: "open" | "token";
  /** One for each issuer; none without OpenID. */
  readonly oidc: readonly OidcConfiguration[];
}

export interface ClientToken {
  readonly name: string;
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  /** Milliseconds since 1970; the token is void from then on. */
  readonly expires: number | undefined;
}

export interface OidcConfiguration {
  readonly issuer: URL;
  readonly audience: string;
  /** Client of `terraform login`; undefined for an issuer of CI alone. */
  readonly clientId: string | undefined;
  /** Patterns by claim that its tokens have to match. */
  readonly claims: ReadonlyMap<string, readonly string[]>;
  /** What `terraform login` asks for. */
  readonly scopes: readonly string[];
  /** PEM certificates, each of them parseable, read from `caFile`. */
  readonly ca: string | undefined;
  readonly caFile: string | undefined;
}
