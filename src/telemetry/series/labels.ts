/** Events that an operator should look at. */
export const alarmKinds = [
  "release-replaced",
  "key-new",
  "key-refused",
  "signature-refused",
  "versions-vanished",
  "archive-tampered",
  "archive-damaged",
  "record-unreadable",
  "decision-undone",
  "database-failing",
  "bucket-failing",
  "audit-lost",
  "module-replaced",
  "unexpected-error",
] as const;

export type AlarmKind = (typeof alarmKinds)[number];

/** Reasons why a verified offer is not admitted. */
export const candidateReasons = [
  "unknown",
  "not-pinned",
  "revoked",
  "other-content",
] as const;

/** Subjects of requests. */
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

/** Sources of modules that the mirror cannot fetch from. */
export const knownGetters = ["s3", "gcs", "hg", "git", "http"] as const;
