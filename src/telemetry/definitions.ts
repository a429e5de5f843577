/** Events that an operator should look at, by kind. */
export const alarms = {
  "release-replaced":
    "the origin offers other content for a release than it did at first; clients keep getting the first",
  "key-new": "a namespace has a new signing key",
  "key-refused": "a release is held back because of its signing key",
  "signature-refused":
    "an origin offers a release whose signature does not hold",
  "versions-vanished":
    "the origin no longer lists versions that it had listed, or has no documents of the newest ones",
  "archive-tampered":
    "an origin sent an archive that is not the one that was signed, or seen first",
  "archive-damaged":
    "a stored archive was not what its name says, or could not be read; it is dropped and fetched again when it is asked for",
  "record-unreadable":
    "a trust record is damaged; releases that depend on it are refused",
  "decision-undone":
    "audit/decisions.jsonl has an operator's decision that the database has not, as after an older backup was put back; it does not count",
  "database-failing":
    "the database does not answer; what is in memory is served, and everything else is refused",
  "bucket-failing":
    "the bucket, or this replica's way to it, is not as it has to be; what was seen of it is served",
  "audit-lost": "a line of the audit log could not be written",
  "module-replaced":
    "the origin offers other content for a module than is pinned; clients keep getting the pinned one",
  "unexpected-error":
    "something happened that no code foresaw; what it was about was ended",
} as const;

export type AlarmKind = keyof typeof alarms;

/** Reasons why a verified offer is not admitted. */
export const candidateReasons = [
  "unknown",
  "not-pinned",
  "revoked",
  "other-content",
] as const;

export const requestKinds = [
  "index",
  "version",
  "archive",
  "module",
  "page",
  "discovery",
  "operation",
  "other",
] as const;

export type RequestKind = (typeof requestKinds)[number];

/** How one request to a host ended. */
export const originResults = [
  "ok",
  "not-found",
  "refused",
  "busy",
  "failed",
  "timeout",
  "unreachable",
] as const;

export type OriginResult = (typeof originResults)[number];
