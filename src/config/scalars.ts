import { isIP } from "node:net";
import { z } from "zod";
import { isCertificateName } from "../address/hostname.ts";
import { parseSha256 } from "../address/hash.ts";
import { parsePlatform } from "../address/platform.ts";
import {
  parsePattern,
  parseProviderPattern,
} from "../address/policy-pattern.ts";
import { parseVersionConstraint } from "../address/version-constraint.ts";
import type { TlsChoice } from "../server/tls/certificate-source.ts";
import { describe, describeKind, leaf, required } from "./leaf.ts";
import { parseDuration, parseSize } from "../address/units.ts";

/** Bytes. */
export const size = leaf("a size such as 512MiB or 200GiB", parseSize);

/** Bytes, and not none. */
export const sizeOfSome = leaf("a size above 0 such as 2GiB", (text) =>
  required(parseSize(text) || undefined),
);

/** A whole number of things, and not none. */
export const count = leaf("a whole number of at least 1 such as 4096", (text) =>
  Number(required(/^[1-9][0-9]{0,14}$/.exec(text)?.[0])),
);

/** Bytes; undefined is unlimited. */
export const sizeOrUnlimited = leaf<number | undefined>(
  "unlimited or a size such as 200GiB",
  (text) => (text === "unlimited" ? undefined : parseSize(text)),
);

/** Milliseconds. */
export const duration = leaf(
  "a duration such as 500ms, 30s, 5m, 1h, 7d or 0",
  parseDuration,
);

export const flag = leaf(
  "true or false",
  (text) => required(/^(?:true|false)$/.exec(text)?.[0]) === "true",
);

export const text = leaf("text", (value) =>
  required(/^\S(?:.*\S)?$/.exec(value)?.[0]),
);

/** For people who are refused; clients print it from a reason phrase, which is ASCII. */
export const remark = leaf(
  "one line of at most 120 printable ASCII characters",
  (value) => required(/^(?=\S)[ -~]{1,120}(?<=\S)$/.exec(value)?.[0]),
);

export const versionConstraint = leaf(
  'a version constraint such as "~> 5.0" or ">= 1.2, < 2.0"',
  parseVersionConstraint,
);

export const platform = leaf("OS_ARCH such as linux_amd64", parsePlatform);

/** Does not show the value: the secret itself may stand there. */
export const variableName = leaf(
  "the name of an environment variable",
  (name) => required(/^[A-Za-z_][A-Za-z0-9_]*$/.exec(name)?.[0]),
  describeKind,
);

export const listenHost = leaf(
  "an address such as 127.0.0.1, :: or localhost",
  (host) =>
    required(
      isIP(host) > 0 || /^[A-Za-z][A-Za-z0-9.-]*$/.test(host)
        ? host
        : undefined,
    ),
);

/** Name or address that a certificate can be for. */
export const certificateName = leaf(
  "a name or an address such as mirror.example.com or 192.0.2.1",
  (name) => required(isCertificateName(name.toLowerCase()) ? name : undefined),
);

/** An address, or a network as address and prefix length. */
export const network = leaf(
  "an address or a network such as 192.0.2.1 or 10.0.0.0/8",
  (text) => {
    const [address = "", bits, ...rest] = text.split("/");
    const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const fits =
      bits === undefined ||
      (/^(?:0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) <= longest);
    return required(
      longest > 0 && fits && rest.length === 0 ? text : undefined,
    );
  },
);

export const listenPort = leaf(
  "a port from 0 (any free one) to 65535 such as 8443",
  (digits) =>
    required(
      /^[0-9]{1,5}$/.test(digits) && Number(digits) <= 65535
        ? Number(digits)
        : undefined,
    ),
);

export const tlsMode = leaf(
  "self-signed, off or { certificate: PATH, key: PATH }",
  (mode): TlsChoice => {
    if (mode === "self-signed" || mode === "off") return { kind: mode };
    throw new RangeError("Not acceptable.");
  },
);

/** HOSTNAME/NAMESPACE/TYPE with wildcards. */
export const providerPattern = leaf(
  "HOSTNAME/NAMESPACE/TYPE such as registry.terraform.io/hashicorp/*",
  (pattern) => parseProviderPattern(pattern).text,
);

/** Pattern of providers or of modules. */
export const rulePattern = leaf(
  "HOSTNAME/NAMESPACE/TYPE such as registry.terraform.io/hashicorp/*, or HOSTNAME/NAMESPACE/NAME/SYSTEM for modules",
  (pattern) => parsePattern(pattern).text,
);

/** Upper case. */
export const fingerprint = leaf(
  "a full fingerprint of 40 or 64 hexadecimal digits such as C874011F0AB405110D02105534365D9472D7468F",
  (digits) =>
    required(
      /^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.exec(digits)?.[0].toUpperCase(),
    ),
);

/** Does not show the value: the token itself may stand there. */
export const tokenDigest = leaf(
  "the SHA-256 of the token, 64 hexadecimal digits as sha256sum prints them",
  parseSha256,
  describeKind,
);

/** Milliseconds since 1970; a date alone is its first moment in UTC. */
export const moment = leaf(
  "a date such as 2027-01-31 or 2027-01-31T12:00:00Z",
  (when) =>
    Date.parse(
      z.union([z.iso.date(), z.iso.datetime({ offset: true })]).parse(when),
    ),
);

/** Ends in a slash, unless it is empty. */
export const keyPrefix = leaf(
  "a prefix of keys such as team/provender",
  (prefix) => {
    const whole = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
    return required(/^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)*$/.exec(whole)?.[0]);
  },
);

/** An https URL that ends in a slash. */
export const httpsUrl = url(
  "an https URL such as https://registry.example.com/ without user, query or fragment",
  ["https:"],
);

/** Also one without TLS, on networks that the operator trusts. */
export const serviceUrl = url(
  "an https or http URL such as https://s3.eu-central-1.amazonaws.com/ without user, query or fragment",
  ["https:", "http:"],
);

function url(expected: string, protocols: readonly string[]): z.ZodType<URL> {
  const parse = (href: string) => {
    const url = new URL(href);
    const extras = url.username + url.password + url.search + url.hash;
    if (!protocols.includes(url.protocol) || extras !== "")
      throw new RangeError("Not acceptable.");
    if (!url.pathname.endsWith("/")) url.pathname += "/";
    return url;
  };
  return leaf(expected, parse, (value) =>
    /[@?#]/.test(String(value)) ? describeKind(value) : describe(value),
  );
}
