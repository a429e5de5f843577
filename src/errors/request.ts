import { ProvenderError } from "./provender-error.ts";

/** Text from outside that is not what its place in an address allows. */
export class MalformedAddress extends ProvenderError {
  readonly code = "malformed-address";
  readonly what: string;
  readonly text: string;
  constructor(what: string, text: string, expected: string) {
    super(
      `${JSON.stringify(text.slice(0, 200))} is not a ${what}: expected ${expected}.`,
    );
    this.what = what;
    this.text = text;
  }
}

/** Returns the result of `read`; undefined where that throws MalformedAddress, as for the name of a foreign file. */
export function ifAddress<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MalformedAddress)) throw error;
    return undefined;
  }
}

/** A request that is not HTTP as clients of the protocols speak it. */
export class MalformedRequest extends ProvenderError {
  readonly code = "malformed-request";
  constructor(problem: string, expected: string) {
    super(`The request ${problem}: expected ${expected}.`);
  }
}

export class UriTooLong extends ProvenderError {
  readonly code = "uri-too-long";
  constructor(most: number) {
    super(
      `The URL is longer than the ${most} bytes that any address has: check it.`,
    );
  }
}

export class MethodNotAllowed extends ProvenderError {
  readonly code = "method-not-allowed";
  constructor(method: string) {
    super(`${method.slice(0, 20)} is not served: expected GET or HEAD.`);
  }
}

/** One client asks for metadata more often than its allowance. */
export class TooManyRequests extends ProvenderError {
  readonly code = "too-many-requests";
  readonly retryAfterSeconds: number;
  constructor(client: string, perMinute: number, waitMilliseconds: number) {
    super(
      `${client} asks for more metadata than the ${perMinute} documents a minute of "limits.metadataPerClient": try again shortly.`,
    );
    this.retryAfterSeconds = Math.ceil(waitMilliseconds / 1000);
  }
}

export class RangeNotSatisfiable extends ProvenderError {
  readonly code = "range-not-satisfiable";
  readonly size: number;
  constructor(filename: string, size: number) {
    super(`${filename} has ${size} bytes: ask for a range within them.`);
    this.size = size;
  }
}

/** A path that is none of the URLs in docs/http.md. */
export class NoSuchPage extends ProvenderError {
  readonly code = "no-such-page";
  constructor() {
    super(
      "There is nothing at this path: provider mirrors are under /providers/HOSTNAME/NAMESPACE/TYPE/, modules under /v1/modules/HOSTNAME/.",
    );
  }
}

/** The daemon is starting, stopping, or cannot use its store. */
export class NotReady extends ProvenderError {
  readonly code = "not-ready";
  constructor(reason: string) {
    super(`The mirror is not ready (${reason}): try again shortly.`);
  }
}

/** A hostname that the configuration does not list under `origins`. */
export class OriginNotServed extends ProvenderError {
  readonly code: "origin-not-served" | "origin-not-served-fall-through";
  readonly hostname: string;
  constructor(hostname: string, fallThrough = false) {
    super(
      `This mirror does not serve ${hostname}: ask its operator to add the hostname to "origins".`,
    );
    this.code = fallThrough
      ? "origin-not-served-fall-through"
      : "origin-not-served";
    this.hostname = hostname;
  }
}

/** The origin said that this does not exist. */
export class NotFound extends ProvenderError {
  readonly code = "not-found";
  readonly subject: string;
  constructor(subject: string, options?: ErrorOptions) {
    super(
      `The origin registry says that ${subject} does not exist: check the name and the version.`,
      options,
    );
    this.subject = subject;
  }
}

/** The mirror is offline and does not hold this. */
export class NotStored extends ProvenderError {
  readonly code = "not-stored";
  readonly subject: string;
  constructor(subject: string) {
    super(
      `${subject} is not stored and this mirror is offline: prefetch or import it first.`,
    );
    this.subject = subject;
  }
}

/** A bound on work in progress is reached. */
export class TooBusy extends ProvenderError {
  readonly code = "too-busy";
  constructor(what: string) {
    super(`The mirror has too many ${what} at once: try again shortly.`);
  }
}
