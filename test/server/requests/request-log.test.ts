import { afterEach, describe, expect, it } from "vitest";
import { barrier } from "../../fakes/barrier.ts";
import { awaitHit, awaitLineOf } from "../../scenes/log-lines.ts";
import { startWorld } from "../../scenes/world.ts";

const namespace = "/providers/registry.terraform.io/acme";
const folder = `${namespace}/demo`;

const { registry, mirror } = await startWorld();
const release = await registry.publish({
  type: "demo",
  version: "1.2.3",
  platforms: ["linux_amd64", "darwin_arm64"],
  size: 300_000,
});
await registry.publish({ type: "slow", version: "1.0.0" });

afterEach(() => {
  registry.heal();
  registry.requests.clear();
  registry.latencyMs = undefined;
});

async function lineOf(path: string) {
  return awaitLineOf(mirror, await mirror.get(path));
}

describe("the log of requests", () => {
  it("has one line a request, with who, what and how long", async () => {
    const answer = await mirror.get(`${folder}/index.json?secret=1`);
    const line = await awaitLineOf(mirror, answer);
    const time = expect.any(Number) as number;
    expect(line).toMatchObject({
      ...{ level: "info", client: "127.0.0.1", method: "GET" },
      ...{ path: `${folder}/index.json`, status: 200, complete: true },
      ...{ ms: time, originMs: time },
    });
    expect(line.bytes).toBeGreaterThan(answer.body.length);
    const id = answer.headers["x-request-id"];
    const lines = mirror.log.filter(
      ({ requestId, msg }) => requestId === id && msg !== "audit",
    );
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(mirror.log)).not.toContain("secret");
  });

  it("says fetched with the origin's time, then hit with none", async () => {
    registry.latencyMs = 50;
    const path = `${folder}/terraform-provider-demo_1.2.3_linux_amd64.zip`;
    const fetched = await lineOf(path);
    expect(fetched.outcome).toBe("fetched");
    expect(fetched.originMs).toBeGreaterThanOrEqual(50);
    expect(fetched.bytes).toBeGreaterThan(
      release.archive("linux_amd64").bytes.length,
    );

    await awaitHit(mirror, path);
    registry.requests.clear();
    expect(await lineOf(path)).toMatchObject({ outcome: "hit", originMs: 0 });
    expect(registry.requests.count()).toBe(0);
  });

  it("says joined for those who waited for another one's list", async () => {
    const gate = barrier();
    registry.script("versions", gate.beforeHeaders);
    const path = `${namespace}/slow/index.json`;
    const first = lineOf(path);
    await gate.reached;
    const second = lineOf(path);
    // Has to be answered after the second was taken.
    await mirror.get("/readyz");
    gate.release();
    const lines = await Promise.all([first, second]);
    expect(lines.map(({ outcome }) => outcome)).toEqual(["fetched", "joined"]);
    expect(registry.requests.count("versions")).toBe(1);
  });

  const elsewhere = "/providers/registry.example.com/a/b/index.json";

  it.each([
    [elsewhere, 451, "refused", "origin-not-served"],
    [`${folder}/9.9.9.json`, 404, "not-found", "not-found"],
    [`${folder}/1.2.json`, 400, "malformed", "malformed-address"],
    ["/nothing", 404, "not-found", "no-such-page"],
  ])("says why not: %s", async (path, status, outcome, code) => {
    const error = expect.stringMatching(/\.$/) as string;
    expect(await lineOf(path)).toMatchObject({ outcome, status, code, error });
  });

  it("names the client's program, and what was asked for", async () => {
    const file = "terraform-provider-demo_1.2.3_linux_amd64.zip";
    const provider = "registry.terraform.io/acme/demo";
    const headers = { "user-agent": `Terraform/1.11 ${"x".repeat(500)}` };
    const userAgent = headers["user-agent"].slice(0, 200);
    for (const [document, named] of [
      ["index.json", {}],
      ["1.2.3.json", { version: "1.2.3" }],
      [file, { version: "1.2.3", platform: "linux_amd64" }],
    ] as const) {
      const answer = await mirror.get(`${folder}/${document}`, { headers });
      const line = await awaitLineOf(mirror, answer);
      expect(line).toMatchObject({ provider, userAgent, ...named });
    }
  });
});
