import { expect, it } from "vitest";
import { barrier } from "../../fakes/barrier.ts";
import { awaitHit, awaitLineOf } from "../../scenes/log-lines.ts";
import { startWorld } from "../../scenes/world.ts";

const provider = "registry.terraform.io/acme/demo";
const folder = `/providers/${provider}`;
const file = "terraform-provider-demo_1.2.3_linux_amd64.zip";

const { registry, mirror } = await startWorld();
await registry.publish({
  type: "demo",
  version: "1.2.3",
  size: 300_000,
});

const lineOf = async (path: string) =>
  awaitLineOf(mirror, await mirror.get(path));

it("a request has one line, with who, what and how long", async () => {
  const headers = { "user-agent": `Terraform/1.11 ${"x".repeat(500)}` };
  const userAgent = headers["user-agent"].slice(0, 200);
  const time = expect.any(Number) as number;
  for (const [document, named] of [
    ["index.json", {}],
    ["1.2.3.json", { version: "1.2.3" }],
    [file, { version: "1.2.3", platform: "linux_amd64" }],
  ] as const) {
    const path = `${folder}/${document}`;
    const answer = await mirror.get(`${path}?secret=1`, { headers });
    const line = await awaitLineOf(mirror, answer);
    expect(line).toMatchObject({
      ...{ level: "info", client: "127.0.0.1", method: "GET", path, userAgent },
      ...{ provider, ...named, status: 200, complete: true },
      ...{ ms: time, originMs: time },
    });
    expect(line.bytes).toBeGreaterThan(answer.body.length);
    const id = answer.headers["x-request-id"];
    const lines = mirror.log.filter(
      ({ requestId, msg }) => requestId === id && msg !== "audit",
    );
    expect(lines).toHaveLength(1);
  }
  expect(JSON.stringify(mirror.log)).not.toContain("secret");
});

it("says fetched with the origin's time, then hit with none", async () => {
  await registry.publish({ type: "slow", version: "1.0.0", size: 300_000 });
  registry.latencyMs = 50;
  const path = `${folder}/${file}`
    .replaceAll("demo", "slow")
    .replace("1.2.3", "1.0.0");
  const fetched = await lineOf(path);
  registry.latencyMs = undefined;
  expect(fetched.outcome).toBe("fetched");
  expect(fetched.originMs).toBeGreaterThanOrEqual(50);
  expect(fetched.bytes).toBeGreaterThan(300_000);
  await awaitHit(mirror, path);
  registry.requests.clear();
  expect(await lineOf(path)).toMatchObject({ outcome: "hit", originMs: 0 });
  expect(registry.requests.count()).toBe(0);
});

it("says joined for those who waited for another one's list", async () => {
  await registry.publish({ type: "joined", version: "1.0.0" });
  registry.requests.clear();
  const gate = barrier();
  registry.script("versions", gate.beforeHeaders);
  const path = `${folder}/index.json`.replace("demo", "joined");
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

it.each([
  ["/providers/a.test/a/b/index.json", 451, "refused", "origin-not-served"],
  [`${folder}/9.9.9.json`, 404, "not-found", "not-found"],
  [`${folder}/1.2.json`, 400, "malformed", "malformed-address"],
])("says why not: %s", async (path, status, outcome, code) => {
  const error = expect.stringMatching(/\.$/) as string;
  expect(await lineOf(path)).toMatchObject({ outcome, status, code, error });
});
