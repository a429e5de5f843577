import { describe, expect, it } from "vitest";
import * as errors from "../../../src/errors/index.ts";
import { formatReasonPhrase } from "../../../src/server/http/reason-phrase.ts";
import { statusOf } from "../../../src/server/http/error-response.ts";

type Thrown = InstanceType<typeof errors.ProvenderError>;

const fingerprint = "C874011F0AB405110D02105534365D9472D7468F";
const until = new Date("2026-11-22T10:00:00Z");

/** Each class with whatever text its facts may have. */
const made: Readonly<Record<string, (text: string) => Thrown>> = {
  ArchiveDigestWrong: (t) => new errors.ArchiveDigestWrong(t, t, t),
  ArchiveNotSigned: (t) => new errors.ArchiveNotSigned(t, t),
  ArchiveUnhashable: (t) => new errors.ArchiveUnhashable(t, t),
  ArchiveUrlRefused: (t) => new errors.ArchiveUrlRefused(t),
  AuthorityMissing: (t) => new errors.AuthorityMissing(t),
  BucketRefuses: (t) =>
    new errors.BucketRefuses(t, t, { status: 403, reason: t }),
  BucketUnreachable: (t) => new errors.BucketUnreachable(t, t),
  BundleIncomplete: (t) => new errors.BundleIncomplete(t),
  BundleRefused: (t) => new errors.BundleRefused(t, t),
  CannotListen: (t) => new errors.CannotListen(t, t),
  ChecksumConflict: (t) => new errors.ChecksumConflict(t, t, t, t),
  ChecksumsMalformed: (t) => new errors.ChecksumsMalformed(t, 1, t),
  ConfigurationInvalid: (t) => new errors.ConfigurationInvalid(t, t),
  ExportFailed: (t) => new errors.ExportFailed(t, t),
  InputInvalid: (t) => new errors.InputInvalid(t, t),
  KeyRefused: (t) => new errors.KeyRefused(releaseOf(t), t, "unknown"),
  LockMismatch: (t) => new errors.LockMismatch(t, t, [t], [t]),
  LockOutdated: (t) => new errors.LockOutdated(t, t, t, t),
  MalformedAddress: (t) => new errors.MalformedAddress(t, t, t),
  MalformedRequest: (t) => new errors.MalformedRequest(t, t),
  MethodNotAllowed: (t) => new errors.MethodNotAllowed(t),
  MirrorWantsToken: () =>
    new errors.MirrorWantsToken(new URL("https://a.test/")),
  ModuleArchiveRefused: (t) => new errors.ModuleArchiveRefused(t, t),
  ModuleReplaced: (t) => new errors.ModuleReplaced(t, t, t),
  ModuleSourceRefused: (t) => new errors.ModuleSourceRefused(t),
  NetworkMirrorUnsigned: (t) => new errors.NetworkMirrorUnsigned(t),
  NoSuchPage: () => new errors.NoSuchPage(),
  NoVersionMatches: (t) => new errors.NoVersionMatches(t, t, t),
  NotApprovable: (t) => new errors.NotApprovable(t, t, t),
  NotFound: (t) => new errors.NotFound(t),
  NotReady: (t) => new errors.NotReady(t),
  NotStored: (t) => new errors.NotStored(t),
  NothingAdmitted: (t) => new errors.NothingAdmitted(t),
  NothingApproved: (t) => new errors.NothingApproved(t, [t]),
  NothingAsked: (t) => new errors.NothingAsked(t, t),
  NothingToApprove: (t) => new errors.NothingToApprove(t, [t]),
  NothingToVerify: (t) => new errors.NothingToVerify(t, t),
  OriginAddressRefused: (t) => new errors.OriginAddressRefused(t, t),
  OriginAnswerCut: (t) => new errors.OriginAnswerCut(t),
  OriginAnswerUnusable: (t) => new errors.OriginAnswerUnusable(t, t),
  OriginBusy: (t) => new errors.OriginBusy(t, 1),
  OriginNotServed: (t) => new errors.OriginNotServed(t),
  OriginRejectsCredentials: (t) => new errors.OriginRejectsCredentials(t, 401),
  OriginStatus: (t) => new errors.OriginStatus(t, 500),
  OriginSuspended: (t) => new errors.OriginSuspended(t, 1, t),
  OriginTimedOut: (t) => new errors.OriginTimedOut(t, t),
  OriginUnreachable: (t) => new errors.OriginUnreachable(t, t),
  PackageHashWrong: (t) => new errors.PackageHashWrong(t, [t], t),
  PolicyDenied: (t) => new errors.PolicyDenied(t, t, t),
  RangeNotSatisfiable: (t) => new errors.RangeNotSatisfiable(t, 1),
  RecordUnreadable: (t) => new errors.RecordUnreadable(t, t),
  ReleaseConflict: (t) => new errors.ReleaseConflict(releaseOf(t), t),
  SignatureMissing: (t) => new errors.SignatureMissing(t, t),
  SignatureRefused: (t) => new errors.SignatureRefused(t, t, t),
  SignatureUndecided: (t) => new errors.SignatureUndecided(t, t),
  StoreFull: (t) => new errors.StoreFull(t, t, t),
  StoreInUse: (t) => new errors.StoreInUse(t),
  StoreOwnedByAnother: (t) => new errors.StoreOwnedByAnother(t, 1, 2),
  StoreUnusable: (t) => new errors.StoreUnusable(t, t),
  StoredArchiveDamaged: (t) => new errors.StoredArchiveDamaged(t, t, t),
  StoredArchiveUnreadable: (t) => new errors.StoredArchiveUnreadable(t, t),
  TokenNeeded: () => new errors.TokenNeeded(),
  TokenRefused: (t) => new errors.TokenRefused(t),
  TooBusy: (t) => new errors.TooBusy(t),
  TooManyRequests: (t) => new errors.TooManyRequests(t, 1, 1),
  TooYoung: (t) => new errors.TooYoung(t, t, t, until),
  UriTooLong: () => new errors.UriTooLong(1),
  VersionsWithoutEnd: (t) => new errors.VersionsWithoutEnd(t, 1),
};

function releaseOf(text: string) {
  const provider = { hostname: text, namespace: text, type: text };
  return { provider, version: text };
}

const page = "https://mirror.example.com/why/registry.terraform.io/acme/demo";
const hostile = [
  "",
  "\r\nSet-Cookie: a=b",
  "<script>alert(1)</script>",
  'x" onload="\u0000\u001b[31m',
  "\u202eéß漢字💥",
  "a".repeat(100_000),
  "%0d%0a&lt;",
];

describe("the reason phrase of a refusal", () => {
  it("is tried for every class of error", () => {
    const classes = Object.entries(errors)
      .filter(([, one]) => one.prototype instanceof errors.ProvenderError)
      .map(([name]) => name);
    expect(Object.keys(made).toSorted()).toEqual(classes.toSorted());
  });

  it.each(Object.entries(made))(
    "is one inert line of at most 200 bytes: %s",
    (_, make) => {
      for (const text of hostile)
        for (const see of [undefined, page, `${page}/${"1".repeat(300)}`]) {
          const phrase = formatReasonPhrase(make(text), see);
          expect(phrase).toMatch(/^[A-Z][\x20-\x7e]{9,199}$/);
          expect(phrase).not.toMatch(/[<>"&;%\\]|a=b|alert\(1\)</);
        }
    },
  );

  it.each(Object.entries(made))(
    "has no path, secret or place of an origin: %s",
    (name, make) => {
      const canary = "https://10.9.8.7/var/lib/canary?token=s3cr3t";
      const phrase = formatReasonPhrase(make(canary), undefined);
      // What these name comes from the request, the configuration or a closed list alone.
      const speaks =
        /^(?:OriginNotServed|PolicyDenied|TooYoung|KeyRefused|TokenRefused)$/;
      if (!speaks.test(name)) expect(phrase).not.toMatch(/canary|s3cr|10\.9/);
      expect(phrase).not.toContain("/");
    },
  );

  it("names its own cause for whatever a client can meet", () => {
    for (const [name, make] of Object.entries(made)) {
      const error = make("x");
      const unnamed = formatReasonPhrase(undefined, undefined);
      if (statusOf(error) !== 500)
        expect(formatReasonPhrase(error, undefined), name).not.toBe(unnamed);
    }
  });

  it.each([
    [
      new errors.PolicyDenied("a/b/c", "1.0.0", "policy.rules[2]"),
      `Denied by policy.rules[2] of this mirror, see ${page}`,
    ],
    [
      new errors.TooYoung("a/b/c", "1.0.0", "policy.minimumAge", until),
      `Held back by policy.minimumAge of this mirror until 2026-11-22T10:00:00.000Z, see ${page}`,
    ],
    [
      new errors.TooYoung("a/b/c", "1.0.0", "policy.minimumAge", undefined),
      `Held back by policy.minimumAge of this mirror because its age is not known, see ${page}`,
    ],
    [
      new errors.KeyRefused(releaseOf("a"), fingerprint, "revoked"),
      `Held back by this mirror, its signing key ${fingerprint} was revoked, see ${page}`,
    ],
    [
      new errors.TokenRefused("it has expired"),
      `The token is refused because it has expired, see ${page}`,
    ],
    [
      new errors.OriginNotServed("registry.example.com:8443"),
      `This mirror does not serve registry.example.com:8443, see ${page}`,
    ],
  ])("tells the facts: %s", (error, phrase) => {
    expect(formatReasonPhrase(error, page)).toBe(phrase);
  });
});
