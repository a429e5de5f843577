import { OriginFailure } from "./origin-failure.ts";

/** No connection, name or TLS session could be had, or it broke. */
export class OriginUnreachable extends OriginFailure {
  readonly code = "origin-unreachable";
  constructor(
    url: string,
    reason: string,
    options?: ErrorOptions,
    advice = "check the network, proxy and CA on the way there",
  ) {
    super(url, `${url} could not be reached (${reason}): ${advice}.`, options);
  }
}

/** A folder that stands for a registry is gone, or its disk fails. */
export class OriginFolderUnreachable extends OriginUnreachable {
  constructor(url: string, reason: string, options?: ErrorOptions) {
    const advice =
      "check that the folder of this origin is there, the daemon may read it and its disk works";
    super(url, reason, options, advice);
  }
}

/** A deadline passed before the origin had answered. */
export class OriginTimedOut extends OriginFailure {
  readonly code = "origin-timeout";
  constructor(url: string, what: string, options?: ErrorOptions) {
    super(
      url,
      `${url} did not answer in time (${what}): try again, or look at the origin.`,
      options,
    );
  }
}

/** A status that is neither success nor absence. */
export class OriginStatus extends OriginFailure {
  readonly code = "origin-status";
  readonly status: number;
  constructor(url: string, status: number) {
    super(
      url,
      `${url} answered with status ${status}, expected 200: try again, or look at the origin.`,
    );
    this.status = status;
  }
}

/** The origin limits our rate (429 or 503 with Retry-After). */
export class OriginBusy extends OriginFailure {
  readonly code = "origin-busy";
  readonly retryAfterSeconds: number | undefined;
  constructor(url: string, retryAfterSeconds: number | undefined) {
    const later =
      retryAfterSeconds === undefined ? "later" : `in ${retryAfterSeconds} s`;
    super(url, `${url} is asked too often, as it says: try again ${later}.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The origin wants credentials, or rejects the configured ones. */
export class OriginRejectsCredentials extends OriginFailure {
  readonly code = "origin-credentials";
  /** In the origin's own words, why it refuses the token. */
  readonly reason: string | undefined;
  constructor(url: string, status: number, reason?: string) {
    super(
      url,
      `${url} answered with status ${status}: check the "token" that the mirror has for this origin.`,
    );
    this.reason = reason;
  }
}

/** An answer that is too large, cut short, of another media type, or not in the protocol's shape. */
export class OriginAnswerUnusable extends OriginFailure {
  readonly code = "origin-answer";
  readonly reason: string;
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(
      url,
      `${url} gave an unusable answer (${reason}): try again, or look at the origin.`,
      options,
    );
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
      `with what its registry listed earlier there are more than ${most} versions, and its publisher may know why they come and go`,
    );
  }
}

/** The origin failed too often lately to be asked now. */
export class OriginSuspended extends OriginFailure {
  readonly code = "origin-suspended";
  readonly retryAfterSeconds: number;
  constructor(url: string, retryAfterSeconds: number, reason: string) {
    super(
      url,
      `${url} is not asked for another ${retryAfterSeconds} s because it failed too often (${reason}): try again later, or look at the origin.`,
    );
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** An answer led to an address that the mirror must not ask. */
export class OriginAddressRefused extends OriginFailure {
  readonly code = "origin-address-refused";
  constructor(url: string, reason: string) {
    super(
      url,
      `${url} is not asked because ${reason}: configure the origin's "url" or "allowPrivateAddresses" if this is intended.`,
    );
  }
}
