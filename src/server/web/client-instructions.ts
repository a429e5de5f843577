import { isIPv6 } from "node:net";
import { domainToUnicode } from "node:url";
import { isEveryAddress } from "../tls/certificate-source.ts";

/** The URL under which clients find a daemon; a daemon on every address is called by its machine's name. */
export function formatMirrorUrl(
  listen: {
    readonly host: string;
    readonly port: number;
    readonly secure: boolean;
  },
  hostname: string,
): string {
  const host = isEveryAddress(listen.host) ? hostname : listen.host;
  const scheme = listen.secure ? "https" : "http";
  return `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${listen.port}/`;
}

/**
 * The CLI configuration that a client of this mirror needs, as text that can
 * be pasted whole into its file. The served hostnames come from the mirror
 * only: `direct` excludes them, so that a 404 of the mirror ends the search
 * instead of leading past it. Others stay with their own registries.
 * (CLI configuration file, "Explicit Installation Method Configuration")
 */
export function formatClientInstructions(mirror: {
  /** URL of the mirror for clients, with a slash at the end. */
  readonly url: string;
  /** The CA that clients do not know yet. */
  readonly caFile: string | undefined;
  /** The provider hostnames that the mirror serves. */
  readonly hostnames: readonly string[];
  /** Clients have to have a token. */
  readonly needsToken?: boolean;
}): string {
  const behindProxy = !mirror.url.startsWith("https:");
  const url = behindProxy ? "https://mirror.example.com/" : mirror.url;
  const direct = mirror.hostnames.filter((hostname) => !hasNoPort(hostname));
  const asked = [new URL(url).host, ...direct.map(clientHostname)];
  return [
    "# For ~/.terraformrc (Terraform) or ~/.tofurc (OpenTofu):",
    ...(behindProxy ? [proxyNote] : []),
    ...(mirror.caFile === undefined ? [] : trustNote(mirror.caFile)),
    ...installation(url, mirror.hostnames.filter(hasNoPort)),
    ...direct.flatMap((hostname) => services(url, hostname)),
    ...(mirror.needsToken === true ? asked.flatMap(credentials) : []),
    "",
  ].join("\n");
}

const proxyNote =
  "# mirror.example.com stands for the proxy that adds TLS to this mirror.";

function trustNote(caFile: string): string[] {
  return [
    `# Give clients a copy of ${caFile} and set SSL_CERT_FILE to its path`,
    "# (on macOS and Windows add it to the system's trusted roots instead).",
  ];
}

// Clients join HOSTNAME:PORT to a mirror's URL in a way that they cannot parse themselves.
function hasNoPort(hostname: string): boolean {
  return !hostname.includes(":");
}

function installation(url: string, hostnames: readonly string[]): string[] {
  if (hostnames.length === 0) return [];
  const patterns = hostnames
    .map((hostname) => `"${clientHostname(hostname)}/*/*"`)
    .join(", ");
  return [
    "provider_installation {",
    "  network_mirror {",
    `    url     = "${url}providers/"`,
    `    include = [${patterns}]`,
    "  }",
    "  direct {",
    `    exclude = [${patterns}]`,
    "  }",
    "}",
  ];
}

/**
 * Formats the block of a hostname with a port: the mirror's registries in place
 * of its own.
 */
function services(url: string, hostname: string): string[] {
  return [
    `host "${clientHostname(hostname)}" {`,
    "  services = {",
    `    "providers.v1" = "${url}v1/providers/${hostname}/"`,
    `    "modules.v1"   = "${url}v1/modules/${hostname}/"`,
    "  }",
    "}",
  ];
}

/** Clients send a token by the hostname that they know: the mirror's, or that of a host block. */
function credentials(host: string): string[] {
  return [`credentials "${host}" {`, '  token = "YOUR_TOKEN"', "}"];
}

/** Clients refuse punycode in their configuration; they want the Unicode form. */
function clientHostname(hostname: string): string {
  const [name = "", ...port] = hostname.split(":");
  return [domainToUnicode(name), ...port].join(":");
}
