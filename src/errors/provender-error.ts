/** Every way in which provender says no. Messages are one sentence: what, expected and got, what to do. */
export type ErrorCode =
  | "malformed-address"
  | "malformed-request"
  | "uri-too-long"
  | "method-not-allowed"
  | "range-not-satisfiable"
  | "no-such-page"
  | "not-ready"
  | "origin-not-served"
  | "origin-not-served-fall-through"
  | "not-found"
  | "not-stored"
  | "origin-unreachable"
  | "origin-timeout"
  | "origin-status"
  | "origin-busy"
  | "origin-credentials"
  | "origin-answer"
  | "origin-address-refused"
  | "signature-missing"
  | "signature-refused"
  | "signature-undecided"
  | "key-refused"
  | "policy-denied"
  | "too-young"
  | "nothing-admitted"
  | "checksums-malformed"
  | "archive-not-signed"
  | "checksum-conflict"
  | "archive-digest"
  | "too-busy"
  | "store-in-use"
  | "store-unusable"
  | "configuration"
  | "listen"
  | "stored-archive-short"
  | "archive-unhashable";

export abstract class ProvenderError extends Error {
  abstract readonly code: ErrorCode;
  override get name(): string {
    return this.constructor.name;
  }
}
