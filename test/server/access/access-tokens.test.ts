import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bearer, issueToken } from "../../client-token.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startIssuer, type Issuer } from "../../fakes/issuer.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import { reload } from "../../scenes/authentication-scene.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";

const ci = issueToken("ci");
const authority = await createAuthority();
const ca = join(scratch("ca"), "ca.pem");
writeFileSync(ca, authority.caPem);
const refused = "401 token-refused";
const discovery = "/.well-known/terraform.json";

const accept = ({ url }: Issuer, audience: string) => ({
  tokens: [ci.configured],
  oidc: { issuer: url, audience, clientId: "terraform-cli", ca },
});
const issuer = await startIssuer(authority);
const mirror = await startMirror({
  config: { auth: accept(issuer, "provender") },
});
const ask = (token: string) => mirror.get("/browse", bearer(token));
const outcome = async (token: string) => outcomeOf(await ask(token));
const use = (auth: object) => reload(mirror, { auth });

describe("access tokens of an OpenID provider", () => {
  it("are had by a login at the issuer's own endpoints, which service discovery offers without a token", async () => {
    expect((await mirror.get(discovery)).json()).toMatchObject({
      "login.v1": {
        ...{ client: "terraform-cli", grant_types: ["authz_code"] },
        authz: `${issuer.url}/authorize`,
        token: `${issuer.url}/token`,
        ...{ ports: [10_000, 10_010], scopes: ["openid"] },
      },
    });
  });

  it("let their subjects in, beside the static tokens, and are written nowhere", async () => {
    const token = await issuer.sign();
    const answer = await ask(token);
    expect(answer.status).toBe(200);
    expect((await awaitLineOf(mirror, answer)).token).toBe(
      `oidc:someone@${issuer.url.replace("https://", "")}`,
    );
    expect((await ask(ci.token)).status).toBe(200);
    for (const part of token.split("."))
      expect(JSON.stringify(mirror.log)).not.toContain(part);
    expect(issuer.requests).toHaveLength(2);
  });

  it("are taken from another issuer, and then from none, after SIGHUP", async () => {
    const first = await issuer.sign();
    expect(await outcome(first)).toBe("200");
    const other = await startIssuer(authority);
    await use(accept(other, "other"));
    const second = await other.sign({ claims: { aud: "other" } });
    expect(await outcome(second)).toBe("200");
    expect(await outcome(first)).toBe(refused);
    const asked = other.requests.length;
    await use(accept(other, "other"));
    expect(await outcome(second)).toBe("200");
    expect(other.requests).toHaveLength(asked);
    await use({ tokens: [ci.configured] });
    expect(await outcome(second)).toBe(refused);
    expect(await outcome(ci.token)).toBe("200");
  });

  it("that lack a claim are refused by its name, with a header that clients can read", async () => {
    const { oidc } = accept(issuer, "provender");
    const claims = { 'the "rôle" 役': ["admin"] };
    await use({ oidc: { ...oidc, claims } });
    const answer = await ask(await issuer.sign());
    expect(outcomeOf(answer)).toBe(refused);
    expect(answer.body.toString()).toContain("役");
    expect(answer.headers["www-authenticate"]).toMatch(
      /^Bearer error="invalid_token", error_description="its claim [ -!#-[\]-~]*"$/,
    );
  });

  it("are undecided without the issuer's keys: that is no 401", async () => {
    const down = await startIssuer(authority);
    await down.stop();
    await use(accept(down, "provender"));
    const answer = await ask(await down.sign());
    expect(outcomeOf(answer)).toMatch(/^50[234] origin-/);
    expect(answer.headers["retry-after"]).toMatch(/^[1-5]$/);
    expect(await outcome("garbage")).toBe(refused);
    const offered = await mirror.get(discovery);
    expect(offered.status).toBe(200);
    expect(offered.json()).not.toHaveProperty("login.v1");
  });
});
