import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { TokenRefused } from "../../src/errors/index.ts";
import {
  inspectAccessToken,
  verifyIdToken,
} from "../../src/verification/access-token.ts";
import { createIssuerKey } from "../fakes/issuer.ts";

const issuer = new URL("https://login.example.com/realm");
const expected = { issuer, audience: "provender", nonce: "n" };
const now = new Date("2026-05-01T12:00:00Z");
const key = await createIssuerKey("first");
const other = await createIssuerKey("second");
const claims = {
  ...{ iss: issuer.href, aud: "provender", sub: "someone", nonce: "n" },
  exp: now.getTime() / 1000 + 60,
};

const sign = (changes: object, header: object = {}) =>
  new SignJWT({ ...claims, ...changes })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);

/** The subject, or why it is refused. */
async function verdict(token: string, by = key): Promise<string> {
  try {
    const keys = [by.publicJwk];
    const verified = await verifyIdToken(token, keys, expected, now);
    return verified?.subject ?? "no key";
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    return /because (.*?): get/.exec(error.message)?.[1] ?? error.message;
  }
}

const elsewhere = "it is for another client";

it.each<[string, object, string]>([
  ["for this client and login", {}, "someone"],
  ["for this client, as it says twice", { azp: "provender" }, "someone"],
  ["in a list of this client alone", { aud: ["provender"] }, "someone"],
  [
    "for several, made for this client",
    { aud: ["provender", "b"], azp: "provender" },
    "someone",
  ],
  ["for several", { aud: ["provender", "b"] }, elsewhere],
  [
    "for several, made for another",
    { aud: ["provender", "b"], azp: "b" },
    elsewhere,
  ],
  ["made for another client", { azp: "b" }, elsewhere],
  ["for another client", { aud: "b" }, "it is for another audience"],
  ["of another login", { nonce: "m" }, "it answers another login"],
  ["of no login", { nonce: undefined }, "it answers another login"],
  ["that expired", { exp: 1 }, "it has expired"],
])("an ID token %s: %j", async (_which, changes, expectedVerdict) => {
  expect(await verdict(await sign(changes))).toBe(expectedVerdict);
});

it("an ID token is none when it is an access token, and is not verified by another key", async () => {
  expect(await verdict(await sign({}, { typ: "at+jwt" }))).toBe(
    "it is no ID token",
  );
  expect(await verdict(await sign({}), other)).toBe("no key");
});

it.each([
  ["an expiry that is text", { exp: "99999999999" }, {}, "it has expired"],
  ["a type that is no text", {}, { typ: 5 }, "it cannot be read"],
])("a token with %s is refused", (_what, changes, header, reason) => {
  const encode = (part: object) =>
    Buffer.from(JSON.stringify(part)).toString("base64url");
  const start = encode({ alg: key.alg, kid: key.kid, ...header });
  const token = `${start}.${encode({ ...claims, ...changes })}.c2ln`;
  expect(() => inspectAccessToken(token, expected, now)).toThrow(reason);
});
