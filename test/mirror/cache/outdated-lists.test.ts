import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { barrier } from "../../fakes/barrier.ts";
import { startWorld } from "../../scenes/world.ts";

const host = "registry.terraform.io";
const { registry, mirror } = await startWorld({
  freshness: { versions: "1ms" },
});
registry.services["modules.v1"] = "/v1/modules/";

const publish = (type: string) => (version: string) =>
  registry.publish({ type, version });
const publishModule = (version: string) => {
  const versions = ["1.0.0", version].map((one) => ({ version: one }));
  const list = JSON.stringify({ modules: [{ versions }] });
  registry.serve("/v1/modules/acme/net/aws/versions", list);
};

it.each([
  ["providers", "acme/mirrored/index.json", "versions", publish("mirrored")],
  ["v1/providers", "acme/published/versions", "versions", publish("published")],
  ["v1/modules", "acme/net/aws/versions", "other", publishModule],
] as const)(
  "of %s, %s is the list that is known while the origin is silent, which is asked once, and the new one next",
  async (face, name, kind, add) => {
    const list = async (headers = {}) => {
      const answer = await mirror.get(`/${face}/${host}/${name}`, { headers });
      expect(answer.status).toBe(200);
      return new Set(answer.body.toString().match(/\d+\.\d+\.\d+/g));
    };
    const known = new Set(["1.0.0"]);
    await add("1.0.0");
    expect(await list()).toEqual(known);
    await add("2.0.0");
    await delay(5);
    const held = barrier();
    registry.script(kind, held.beforeHeaders);
    registry.requests.clear();
    for (const listed of await Promise.all(
      Array.from({ length: 20 }, () => list()),
    ))
      expect(listed).toEqual(known);
    await held.reached;
    expect(registry.requests.list(kind)).toHaveLength(1);
    // A client that wants what is there now says so, and waits for it.
    const waiting = list({ "Cache-Control": "no-cache" });
    held.release();
    const all = new Set(["1.0.0", "2.0.0"]);
    expect(await waiting).toEqual(all);
    expect(await list()).toEqual(all);
    registry.heal();
  },
);
