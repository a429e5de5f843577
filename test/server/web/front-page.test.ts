import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";

let registry: Registry;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  await registry.publish({ namespace: "acme", type: "demo", version: "1.2.3" });
  mirror = await startMirror({ config: originsOf(authority, registry) });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

describe("the page for people", () => {
  it("shows the block for clients that was printed at the start, and what is kept", async () => {
    const before = await mirror.get("/");
    expect(before.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(before.body.toString()).toContain("None yet");
    expect(before.body.toString()).toContain(
      `url     = &quot;${mirror.url}providers/&quot;`,
    );
    await mirror.get("/providers/registry.terraform.io/acme/demo/1.2.3.json");
    const after = await mirror.get("/");
    expect(after.body.toString()).toContain(
      "<td>registry.terraform.io/acme/demo<td>1.2.3",
    );
  });

  it("counts requests for Prometheus", async () => {
    await mirror.get("/providers/registry.terraform.io/acme/demo/index.json");
    const { body, headers } = await mirror.get("/metrics");
    expect(headers["content-type"]).toMatch(/^text\/plain/);
    expect(body.toString()).toMatch(
      /provender_requests_total\{outcome="(?:fetched|hit)",status="200"\} [1-9]/,
    );
  });
});
