import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bearer, issueToken } from "../../client-token.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { Issuer } from "../../fakes/issuer.ts";
import {
  scratch,
  startMirror,
  type Answer,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  awaitLine,
  awaitLineOf,
  type LogLine,
} from "../../scenes/log-lines.ts";
import { outcomeOf, reconfigure } from "../../scenes/provider-requests.ts";

const ci = issueToken("ci");

let issuer: Issuer;
let mirror: RunningMirror;

const authority = await createAuthority();
const caFile = join(scratch("ca"), "ca.pem");
writeFileSync(caFile, authority.caPem);
await startAnew();

/** An issuer that was not asked yet, and a mirror that knows nothing of it. */
async function startAnew(): Promise<void> {
  issuer = await Issuer.start(authority);
  const oidc = {
    issuer: issuer.url,
    audience: "provender",
    clientId: "terraform-cli",
    ca: caFile,
  };
  const auth = { tokens: [ci.configured], oidc };
  mirror = await startMirror({ config: { auth } });
}

const ask = (token: string): Promise<Answer> =>
  mirror.get("/browse", bearer(token));
const outcome = async (token: string) => outcomeOf(await ask(token));

const refused = "401 token-refused";

describe("access tokens of an OpenID provider", () => {
  it("are had by a login at the issuer's own endpoints, which service discovery offers without a token", async () => {
    const answer = await mirror.get("/.well-known/terraform.json");
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toMatchObject({
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
    const other = await Issuer.start(authority);
    const { audience, clientId } = { audience: "other", clientId: "c" };
    const oidc = { issuer: other.url, audience, clientId, ca: caFile };
    const tokens = [ci.configured];
    const reload = async (auth: object) => {
      const before = mirror.log.length;
      reconfigure(mirror, { auth });
      const isDone = ({ msg }: LogLine) => msg === "certificate loaded";
      await awaitLine(mirror, isDone, before);
    };

    await reload({ tokens, oidc });
    const second = await other.sign({ claims: { aud: audience } });
    expect(await outcome(second)).toBe("200");
    expect(await outcome(first)).toBe(refused);
    const asked = other.requests.length;
    await reload({ tokens, oidc });
    expect(await outcome(second)).toBe("200");
    expect(other.requests).toHaveLength(asked);
    await reload({ tokens });
    expect(await outcome(second)).toBe(refused);
    expect(await outcome(ci.token)).toBe("200");
    await other.stop();
  });

  it("are undecided without the issuer's keys: that is no 401", async () => {
    await mirror.stop();
    await startAnew();
    await issuer.stop();
    const answer = await ask(await issuer.sign());
    expect(outcomeOf(answer)).toMatch(/^50[234] origin-/);
    expect(answer.headers["retry-after"]).toMatch(/^[1-5]$/);
    expect(await outcome("garbage")).toBe(refused);
    const discovery = await mirror.get("/.well-known/terraform.json");
    expect(discovery.status).toBe(200);
    expect(discovery.json()).not.toHaveProperty("login.v1");
  });
});
