import { createHmac } from "node:crypto";
import { base64url, SignJWT, UnsecuredJWT } from "jose";
import fc from "../seeded.ts";
import { beforeAll, describe, expect, it } from "vitest";
import {
  inspectAccessToken,
  isJsonWebToken,
  verifyAccessToken,
} from "../../src/verification/access-token.ts";
import { createIssuerKey, type IssuerKey } from "../fakes/issuer.ts";

const issuer = new URL("https://login.example.com/realm/");
const expected = { issuer, audience: "provender", claims: new Map() };
const now = new Date("2026-05-01T12:00:00Z");
const seconds = now.getTime() / 1000;
const claims = {
  iss: "https://login.example.com/realm",
  aud: "provender",
  sub: "someone",
  exp: seconds + 60,
};

let key: IssuerKey;
let other: IssuerKey;

beforeAll(async () => {
  key = await createIssuerKey("first", "RS256");
  other = await createIssuerKey("second");
});

function sign(
  changes: object = {},
  header: object = {},
  by: IssuerKey = key,
): Promise<string> {
  return new SignJWT({ ...claims, ...changes })
    .setProtectedHeader({ alg: by.alg, kid: by.kid, ...header })
    .sign(by.privateKey);
}

/** The subject, "no key", or why it is refused; also when it is refused before any key is asked for. */
async function verdict(
  token: string,
  keys: readonly IssuerKey[] = [key],
): Promise<string> {
  try {
    const published = keys.map(({ publicJwk }) => publicJwk);
    inspectAccessToken(token, expected, now);
    const verified = await verifyAccessToken(token, published, expected, now);
    return verified?.subject ?? "no key";
  } catch (error) {
    const { message } = error as Error;
    return /because (.*?): get/.exec(message)?.[1] ?? message;
  }
}

describe("an access token", () => {
  it.each([
    ["of an audience among others", { aud: ["a", "provender"] }],
    ["of an issuer with a slash", { iss: `${claims.iss}/` }],
    ["of an issuer whose clock is ahead", { nbf: seconds + 60 }],
    ["that is good for one more second", { exp: seconds + 1 }],
  ])("%s is good", async (_, changes) => {
    expect(await verdict(await sign(changes))).toBe("someone");
  });

  it.each(["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"])(
    "signed with %s is good",
    async (alg) => {
      const by = await createIssuerKey("one", alg);
      expect(await verdict(await sign({}, {}, by), [by])).toBe("someone");
    },
  );

  it.each(["JWT", "at+jwt", "application/at+jwt", "AT+JWT"])(
    "of type %s is good",
    async (typ) => {
      expect(await verdict(await sign({}, { typ }))).toBe("someone");
    },
  );

  it("without a subject is named by its client", async () => {
    const changes = { sub: undefined, client_id: "ci" };
    expect(await verdict(await sign(changes))).toBe("ci");
  });

  it.each([
    ["expired now", { exp: seconds }, "it has expired"],
    ["expired a second ago", { exp: seconds - 1 }, "it has expired"],
    ["without expiry", { exp: undefined }, "it has expired"],
    ["not valid yet", { nbf: seconds + 61 }, "it is not valid yet"],
    ["of another audience", { aud: "other" }, "it is for another audience"],
    ["of other audiences", { aud: ["a", "b"] }, "it is for another audience"],
    ["of part of it", { aud: "provende" }, "it is for another audience"],
    ["of no audience", { aud: undefined }, "it is for another audience"],
    [
      "of another issuer",
      { iss: "https://login.example.com/other" },
      "it is from another issuer",
    ],
    ["of no issuer", { iss: undefined }, "it is from another issuer"],
    ["without a subject", { sub: "" }, "it has no subject"],
  ])("%s is refused", async (_, changes, reason) => {
    expect(await verdict(await sign(changes))).toBe(reason);
  });

  it.each(["logout+jwt", "secevent+jwt", "dpop+jwt"])(
    "of type %s is refused",
    async (typ) => {
      const token = await sign({}, { typ });
      expect(await verdict(token)).toBe("it is no access token");
    },
  );

  it("with alg none is refused, signed and unsigned", async () => {
    const unsigned = new UnsecuredJWT(claims).encode();
    const [, payload = "", signature = ""] = (await sign()).split(".");
    const header = (alg: string) =>
      base64url.encode(JSON.stringify({ alg, kid: "first" }));
    const refused = "its algorithm is none with a public key";
    expect(await verdict(unsigned)).toBe(refused);
    for (const alg of ["none", "None", "NONE", ""])
      for (const end of ["", signature])
        expect(await verdict(`${header(alg)}.${payload}.${end}`)).toBe(refused);
  });

  it.each(["HS256", "HS384", "HS512"])(
    "with %s and the public key as its secret is refused",
    async (alg) => {
      const [, payload = ""] = (await sign()).split(".");
      const header = base64url.encode(JSON.stringify({ alg, kid: "first" }));
      const jwk = JSON.stringify(key.publicJwk);
      for (const secret of [key.publicPem, key.publicPem.trim(), jwk]) {
        const hmac = createHmac(alg.replace("HS", "sha"), secret);
        const signature = hmac.update(`${header}.${payload}`).digest();
        const token = `${header}.${payload}.${base64url.encode(signature)}`;
        const refused = "its algorithm is none with a public key";
        expect(await verdict(token)).toBe(refused);
      }
    },
  );

  it("with another algorithm than its key's is not verified", async () => {
    const token = await sign({}, { alg: "RS256", kid: "second" });
    expect(await verdict(token, [other])).toBe("no key");
  });

  it("that names an unknown key, or brings its own, is not verified", async () => {
    const unknown = await sign({}, { kid: "unknown" }, other);
    expect(await verdict(unknown)).toBe("no key");
    const own = { jwk: other.publicJwk, jku: "https://evil.example/" };
    expect(await verdict(await sign({}, own, other))).toBe("no key");
  });

  it("under a known name with another key is refused", async () => {
    const stranger = await createIssuerKey("first", "RS256");
    expect(await verdict(await sign({}, {}, stranger))).toBe(
      "its signature is not that of its issuer",
    );
  });

  it("that was changed is refused wherever it was changed", async () => {
    const token = await sign();
    const [header = "", payload = "", signature = ""] = token.split(".");
    const other = base64url.encode(
      JSON.stringify({ ...claims, sub: "another" }),
    );
    const flipped = signature.startsWith("A") ? "B" : "A";
    const edits = [
      `${header}.${other}.${signature}`,
      `${header}.${payload}.${flipped}${signature.slice(1)}`,
      `${header}.${payload}.${signature.slice(4)}`,
      `${header}.${payload}.`,
    ];
    for (const edited of edits)
      expect(await verdict(edited)).toBe(
        "its signature is not that of its issuer",
      );
  });

  it("without the name of its key is good while its issuer has one key", async () => {
    const token = await sign({}, { kid: undefined });
    expect(await verdict(token)).toBe("someone");
    const another = await createIssuerKey("another", "RS256");
    expect(await verdict(token, [key, another])).toBe(
      "it does not name its key, and its issuer has several",
    );
  });

  it("of any other text is refused without an error of its own", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.base64String({ maxLength: 40 }), { maxLength: 5 }),
        async (parts) => {
          const token = parts.join(".").replaceAll(/[+/=]/g, "_");
          expect(await verdict(token)).not.toBe("someone");
          if (parts.length !== 3) expect(isJsonWebToken(token)).toBe(false);
        },
      ),
    );
    const deep = base64url.encode(`${"[".repeat(5000)}${"]".repeat(5000)}`);
    expect(await verdict(`${deep}.${deep}.AA`)).toBe("it cannot be read");
    const list = base64url.encode("[]");
    expect(await verdict(`${list}.${list}.AA`)).toBe("it cannot be read");
  });
});
