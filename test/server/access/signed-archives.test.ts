import { describe, expect, it } from "vitest";
import type { Answer } from "../../running-mirror.ts";
import {
  startAuthenticationScene,
  fileOf,
  folder,
  host,
} from "../../scenes/authentication-scene.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { awaitAudit, outcomeOf } from "../../scenes/provider-requests.ts";

const scene = await startAuthenticationScene();

const soon = () => Date.now() + 60_000;

describe("a signed archive URL", () => {
  it("needs no token, serves the archive whole, in part and as a HEAD, and is logged as the archive's own path with its holder", async () => {
    const path = await scene.signedPath("1.0.0");
    expect(path).toMatch(
      /\/acme\/widget\/[\w.-]+\/terraform-provider-widget_1\.0\.0_linux_amd64\.zip$/,
    );
    const { bytes } = scene.release.archive("linux_amd64");
    const whole = await scene.mirror.get(path);
    expect(whole.status).toBe(200);
    expect(whole.body.equals(bytes)).toBe(true);
    expect(await awaitLineOf(scene.mirror, whole)).toMatchObject({
      ...{ path: folder + fileOf("1.0.0"), token: "ci runner" },
    });
    const head = await scene.mirror.get(path, { method: "HEAD" });
    expect(head.headers["content-length"]).toBe(String(bytes.length));
    const headers = { range: "bytes=10-19" };
    const part = await scene.mirror.get(path, { headers });
    expect(part.status).toBe(206);
    expect(part.body.equals(bytes.subarray(10, 20))).toBe(true);
  });

  it("is good until it expires, an hour later", async () => {
    const path = await scene.signedPath("1.0.0");
    const [, expires] = /widget\/(\d+)\./.exec(path) ?? [];
    const life = (Number(expires) - Date.now()) / 1000;
    expect(life).toBeGreaterThan(3_500);
    expect(life).toBeLessThan(3_602);
    const own = folder + fileOf("1.0.0");
    expect((await scene.mirror.get(scene.forge(own, soon()))).status).toBe(200);
    const expired = await scene.mirror.get(scene.forge(own, soon() - 60_001));
    expect(outcomeOf(expired)).toBe("401 archive-url-refused");
    expect(expired.body.toString()).toContain("it has expired: run init again");
    expect(expired.headers["www-authenticate"]).toBe("Bearer");
  });

  it.each([
    ["with another signature", /\.[\w-]{43}\//, `.${"A".repeat(43)}/`],
    ["without a signature", /\.[\w-]{43}\//, "/"],
    ["of a document", fileOf("1.0.0"), "1.0.0.json"],
  ])("%s is refused", async (_, from, to) => {
    const path = await scene.signedPath("1.0.0");
    const edited = path.replace(from, to);
    expect(edited).not.toBe(path);
    scene.registry.requests.clear();
    const answer = await scene.mirror.get(edited);
    expect(answer.status).toBe(401);
    expect((answer.json() as { errors: string[] }).errors).toHaveLength(1);
    expect(scene.registry.requests.count()).toBe(0);
    await awaitLineOf(scene.mirror, answer);
    const [, signature = path] = /\.([\w-]{43})\//.exec(path) ?? [];
    expect(JSON.stringify(scene.mirror.log)).not.toContain(signature);
  });
});

describe("on SIGHUP", () => {
  it("a rule that denies holds for what was signed before", async () => {
    const path = await scene.signedPath("2.0.0");
    expect((await scene.mirror.get(path)).status).toBe(200);
    const rules = [
      { match: `${host}/acme/widget`, action: "deny", versions: "2.0.0" },
    ];
    await scene.reload({ policy: { rules } });
    const denied: Answer[] = [
      await scene.mirror.get(path),
      await scene.mirror.get(path, { method: "HEAD" }),
      await scene.mirror.get(path, { headers: { range: "bytes=0-9" } }),
    ];
    expect(denied.map(({ status }) => status)).toEqual([451, 451, 451]);
    const audited = await awaitAudit(
      scene.mirror,
      ({ event }) => event === "refused",
    );
    expect(audited.at(-1)).toMatchObject({
      token: "ci runner",
      provider: `${host}/acme/widget`,
      version: "2.0.0",
      platform: "linux_amd64",
    });
    await scene.reload({ policy: {} });
    expect((await scene.mirror.get(path)).status).toBe(200);
  });
});
