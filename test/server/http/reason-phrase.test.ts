import { describe, expect, it } from "vitest";
import { errorCodes, failure } from "../../../src/errors/index.ts";
import {
  formatReasonPhrase,
  formatErrorBody,
  statusOf,
} from "../../../src/server/http/error-response.ts";
import { anyError } from "../../scenes/any-error.ts";

const plain = { because: undefined, contact: undefined };
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
  it.each(errorCodes)(
    "is one inert line of at most 200 bytes, without a path, secret or place of an origin, and the body has nothing that only operators can mend: %s",
    (code) => {
      for (const text of hostile)
        for (const see of [undefined, page, `${page}/${"1".repeat(300)}`]) {
          const phrase = formatReasonPhrase(anyError(code, text), see);
          expect(phrase).toMatch(/^[A-Z][\x20-\x7e]{9,199}$/);
          // Every refusal that a client can meet has its cause.
          expect(phrase.startsWith("The mirror failed")).toBe(
            statusOf(anyError(code, text)) === 500,
          );
          expect(phrase).not.toMatch(/[<>"&;%\\]|a=b|alert\(1\)</);
        }
      const canary = "https://10.9.8.7/var/lib/canary?token=s3cr3t";
      const error = anyError(code, canary);
      const phrase = formatReasonPhrase(error, undefined);
      // These phrases name only the request, the configuration or a closed list.
      const speaks =
        /^(?:nothing-admitted|origin-not-served|policy-denied|too-young|key-refused|content-revoked|token-refused)$/;
      if (!speaks.test(code)) expect(phrase).not.toMatch(/canary|s3cr|10\.9/);
      expect(phrase).not.toContain("/");
      const body = formatErrorBody(error, "an-id");
      expect(JSON.parse(body)).toMatchObject({ code });
      if (statusOf(error) === 500) expect(body).not.toContain("canary");
    },
  );

  it("tells the facts, and what the operator has to say of them", () => {
    const spoken = { because: "use acme/other", contact: "#platform" };
    const said = (guidance: typeof spoken | typeof plain) =>
      formatReasonPhrase(
        failure("policy-denied", "a/b/c", "1.0.0", "policy.rules[2]", guidance),
        page,
      );
    const denied = "Denied by policy.rules[2] of this mirror";
    expect(said(plain)).toBe(`${denied}, see ${page}`);
    expect(said(spoken)).toBe(
      `${denied}: use acme/other. Contact: #platform, see ${page}`,
    );
    const until = new Date("2026-11-22T10:00:00Z");
    const young = ["a/b/c", "1.0.0", "policy.minimumAge", until] as const;
    expect(
      formatReasonPhrase(failure("too-young", ...young, plain), undefined),
    ).toBe(
      "Held back by policy.minimumAge of this mirror until 2026-11-22T10:00:00.000Z",
    );
  });
});
