import { ProvenderError } from "./provender-error.ts";

/** No connection, name or TLS session could be had, or it broke. */
export class OriginUnreachable extends ProvenderError {
  readonly code = "origin-unreachable";
  readonly url: string;
  constructor(
    url: string,
    reason: string,
    options?: ErrorOptions,
    advice = "check the network, proxy and CA on the way there",
  ) {
    super(`${url} could not be reached (${reason}): ${advice}.`, options);
    this.url = url;
  }
}

/** A folder that stands for a registry is gone, or its disk fails. */
export class OriginFolderUnreachable extends OriginUnreachable {
  constructor(url: string, reason: string, options?: ErrorOptions) {
    const advice =
      "check that the folder of this origin is there and its disk works";
    super(url, reason, options, advice);
  }
}

/** A deadline passed before the origin had answered. */
export class OriginTimedOut extends ProvenderError {
  readonly code = "origin-timeout";
  readonly url: string;
  constructor(url: string, what: string, options?: ErrorOptions) {
    super(
      `${url} did not answer in time (${what}): try again, or look at the origin.`,
      options,
    );
    this.url = url;
  }
}

/** A status that is neither success nor absence. */
export class OriginStatus extends ProvenderError {
  readonly code = "origin-status";
  readonly url: string;
  readonly status: number;
  constructor(url: string, status: number) {
    super(
      `${url} answered with status ${status}, expected 200: try again, or look at the origin.`,
    );
    this.url = url;
    this.status = status;
  }
}

/** The origin limits our rate (429 or 503 with Retry-After). */
export class OriginBusy extends ProvenderError {
  readonly code = "origin-busy";
  readonly url: string;
  readonly retryAfterSeconds: number | undefined;
  constructor(url: string, retryAfterSeconds: number | undefined) {
    super(`${url} asks us to slow down: try again later.`);
    this.url = url;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The origin wants credentials, or rejects the configured ones. */
export class OriginRejectsCredentials extends ProvenderError {
  readonly code = "origin-credentials";
  readonly url: string;
  /** In the origin's own words, why it refuses the token. */
  readonly reason: string | undefined;
  constructor(url: string, status: number, reason?: string) {
    super(
      `${url} answered with status ${status}: check the "token" that the mirror has for this origin.`,
    );
    this.url = url;
    this.reason = reason;
  }
}

/** An answer that is too large, cut short, of another media type, or not in the protocol's shape. */
export class OriginAnswerUnusable extends ProvenderError {
  readonly code = "origin-answer";
  readonly url: string;
  readonly reason: string;
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`${url} gave an unusable answer: ${reason}.`, options);
    this.url = url;
    this.reason = reason;
  }
}

/** A body that ended before its announced end, or whose transfer broke. */
export class OriginAnswerCut extends OriginAnswerUnusable {
  constructor(url: string, options?: ErrorOptions) {
    super(url, "the body was cut short", options);
  }
}

/** An origin names other versions at each time, and what it listed before is never forgotten. */
export class VersionsWithoutEnd extends OriginAnswerUnusable {
  constructor(subject: string, most: number) {
    super(
      subject,
      `with what its registry listed earlier there are more than ${most} versions, so ask its publisher why versions come and go`,
    );
  }
}

/** The origin failed too often lately to be asked now. */
export class OriginSuspended extends ProvenderError {
  readonly code = "origin-suspended";
  readonly url: string;
  readonly retryAfterSeconds: number;
  constructor(url: string, retryAfterSeconds: number, reason: string) {
    super(
      `${url} is not asked for another ${retryAfterSeconds} s because it failed too often (${reason}): try again later, or look at the origin.`,
    );
    this.url = url;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An answer led to an address that the mirror must not ask. */
export class OriginAddressRefused extends ProvenderError {
  readonly code = "origin-address-refused";
  readonly url: string;
  constructor(url: string, reason: string) {
    super(
      `${url} is not asked because ${reason}: configure the origin's "url" or "allowPrivateAddresses" if this is intended.`,
    );
    this.url = url;
  }
}
