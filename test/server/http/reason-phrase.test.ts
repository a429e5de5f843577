import { describe, expect, it } from "vitest";
import * as errors from "../../../src/errors/index.ts";
import { formatReasonPhrase } from "../../../src/server/http/reason-phrase.ts";
import {
  formatErrorBody,
  statusOf,
} from "../../../src/server/http/error-response.ts";

type Thrown = InstanceType<typeof errors.ProvenderError>;

const fingerprint = "C874011F0AB405110D02105534365D9472D7468F";
const until = new Date("2026-11-22T10:00:00Z");

/** Classes whose facts are no texts. */
const special: Readonly<Record<string, (text: string) => Thrown>> = {
  BucketRefuses: (t) =>
    new errors.BucketRefuses(t, t, { status: 403, reason: t }),
  ContentNotChosen: (t) =>
    new errors.ContentNotChosen(
      releaseOf(t),
      t,
      [{ sha256sums: t, fingerprint: t }],
      () => t,
    ),
  KeyRefused: (t) => new errors.KeyRefused(releaseOf(t), t, "unknown", t),
  LockMismatch: (t) => new errors.LockMismatch(t, t, [t], [t]),
  MirrorWantsToken: () =>
    new errors.MirrorWantsToken(new URL("https://a.test/")),
  PackageHashWrong: (t) => new errors.PackageHashWrong(t, [t], t),
  ModuleReplaced: (t) => new errors.ModuleReplaced(releaseOf(t), t, t),
  ReleaseConflict: (t) => new errors.ReleaseConflict(releaseOf(t), t),
  TooYoung: (t) => new errors.TooYoung(t, t, t, until),
};

/** Each class of error with whatever text its facts may have. */
const made = Object.entries(errors)
  .filter(([, one]) => one.prototype instanceof errors.ProvenderError)
  .map(([name, one]): [string, (text: string) => Thrown] => [
    name,
    special[name] ??
      ((text) => Reflect.construct(one, [text, text, text, text]) as Thrown),
  ]);

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
  it.each(made)("is one inert line of at most 200 bytes: %s", (_, make) => {
    for (const text of hostile)
      for (const see of [undefined, page, `${page}/${"1".repeat(300)}`]) {
        const phrase = formatReasonPhrase(make(text), see);
        expect(phrase).toMatch(/^[A-Z][\x20-\x7e]{9,199}$/);
        expect(phrase).not.toMatch(/[<>"&;%\\]|a=b|alert\(1\)</);
      }
  });

  it.each(made)(
    "has no path, secret or place of an origin: %s",
    (name, make) => {
      const canary = "https://10.9.8.7/var/lib/canary?token=s3cr3t";
      const phrase = formatReasonPhrase(make(canary), undefined);
      // What these name comes from the request, the configuration or a closed list alone.
      const speaks =
        /^(?:NothingAdmitted|OriginNotServed|PolicyDenied|TooYoung|KeyRefused|TokenRefused)$/;
      if (!speaks.test(name)) expect(phrase).not.toMatch(/canary|s3cr|10\.9/);
      expect(phrase).not.toContain("/");
    },
  );

  it.each(made.filter(([, make]) => statusOf(make("x")) === 500))(
    "comes with a body that tells nothing of what only operators can mend: %s",
    (_, make) => {
      const error = make("/var/lib/canary");
      const body = formatErrorBody(error, "an-id");
      expect(body).not.toContain("canary");
      expect(JSON.parse(body)).toMatchObject({ code: error.code });
    },
  );

  it("names its own cause for whatever a client can meet", () => {
    for (const [name, make] of made) {
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
      new errors.KeyRefused(releaseOf("a"), fingerprint, "revoked", "d"),
      `Held back by this mirror, its signing key ${fingerprint} was revoked, see ${page}`,
    ],
    [
      new errors.KeyRefused(releaseOf("a"), "none", "unknown", "d"),
      `Held back by this mirror, it is not signed, see ${page}`,
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
