import { fail, type Check } from "./check.ts";

interface Fault {
  readonly check: string;
  readonly found: string;
  readonly cure: string;
}

const authority: Fault = {
  check: "certificate-authority",
  found: "its certificate is of a CA that this machine does not trust",
  cure: `Give the mirror's CA with --ca, which "provender ca" prints there, and to clients with SSL_CERT_FILE.`,
};

const name: Fault = {
  check: "certificate-name",
  found: "its certificate is for other names",
  cure: `Use a name that is in it, or add this one to "listen.names" or to the certificate.`,
};

const dates: Fault = {
  check: "certificate-dates",
  found: "its certificate has expired or is not valid yet",
  cure: "Renew it, if the clock of this machine is right.",
};

const dns: Fault = {
  check: "dns",
  found: "its name leads to no address",
  cure: "Correct the name, or the DNS of this machine.",
};

const port: Fault = {
  check: "port",
  found: "nothing takes connections there",
  cure: `Start the mirror, correct the port, and look at "listen.host" there and at firewalls.`,
};

const proxy: Fault = {
  check: "proxy",
  found: "the proxy of HTTPS_PROXY does not lead there",
  cure: "Correct HTTPS_PROXY, or name the mirror in NO_PROXY, for clients too.",
};

const silence: Fault = {
  check: "answer",
  found: "it takes connections and does not answer",
  cure: "Look at the mirror's log and load, and at what is between.",
};

const stranger: Fault = {
  check: "answer",
  found: "what it answers is no mirror's",
  cure: "Correct the name and the port.",
};

const tls: Fault = {
  check: "tls",
  found: "no TLS connection can be made",
  cure: `Look whether the mirror has "listen.tls: off", which wants a proxy in front, and what is between.`,
};

/** By what Node says of the connection. */
const faults: Readonly<Record<string, Fault>> = {
  ENOTFOUND: dns,
  EAI_AGAIN: dns,
  ECONNREFUSED: port,
  EHOSTUNREACH: port,
  ENETUNREACH: port,
  ETIMEDOUT: port,
  CERT_HAS_EXPIRED: dates,
  CERT_NOT_YET_VALID: dates,
  ERR_TLS_CERT_ALTNAME_INVALID: name,
  UNABLE_TO_GET_ISSUER_CERT: authority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: authority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: authority,
  SELF_SIGNED_CERT_IN_CHAIN: authority,
  DEPTH_ZERO_SELF_SIGNED_CERT: authority,
  CERT_SIGNATURE_FAILURE: authority,
  ERR_PROXY_TUNNEL: proxy,
  ABORT_ERR: silence,
  ERR_ANSWER_ENDLESS: stranger,
  HPE_INVALID_CONSTANT: stranger,
  HPE_HEADER_OVERFLOW: stranger,
};

/** Why no answer came from `url`; `proxyUrl` is what may have been asked in its place. */
export function explainFailure(
  url: URL,
  error: unknown,
  proxyUrl: URL | undefined,
): Check {
  const {
    code = "",
    message,
    hostname,
    address,
    port: at,
  } = (error ?? {}) as NodeJS.ErrnoException & {
    readonly hostname?: string;
    readonly address?: string;
    readonly port?: number;
  };
  const isOfProxy =
    proxyUrl !== undefined &&
    (hostname ?? address) === proxyUrl.hostname &&
    (at === undefined || at === Number(proxyUrl.port));
  const fault = isOfProxy ? proxy : (faults[code] ?? tls);
  return fail(
    fault.check,
    `${url.origin} cannot be used: ${fault.found} (${code === "" ? message : code}).`,
    fault.cure,
  );
}
