import { fail, type Check } from "./check.ts";

interface Fault {
  readonly found: string;
  readonly remedy: string;
}

const certificate: Fault = {
  found: "its certificate is not trusted under this name now",
  remedy: `Give the mirror's CA with --ca, which "provender ca" prints there, use a name that is in the certificate, and renew an expired one.`,
};

const address: Fault = {
  found: "nothing takes connections there",
  remedy: `Correct the name and the port, start the mirror, and look at "listen.host" there, DNS, HTTPS_PROXY and firewalls.`,
};

const answer: Fault = {
  found: "it does not answer as a mirror does",
  remedy: `Look at the mirror's log, at "listen.tls", and at what is between.`,
};

/** Explains by Node's error why no answer came from `url`. */
export function explainFailure(url: URL, error: unknown): Check {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const [check, fault] = /CERT|SIGNATURE/.test(code)
    ? (["certificate", certificate] as const)
    : /^E(?:NOTFOUND|AI_|CONN|HOST|NET|TIMEDOUT)|ERR_PROXY/.test(code)
      ? (["address", address] as const)
      : (["answer", answer] as const);
  const reason = code === "" ? message : code;
  return fail(
    check,
    `${url.origin} cannot be used: ${fault.found} (${reason}).`,
    fault.remedy,
  );
}
