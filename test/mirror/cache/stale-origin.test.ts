import { beforeEach, describe, expect, it } from "vitest";
import { hang, status } from "../../fakes/faults.ts";
import { expectRefusal } from "../../scenes/failing-origin.ts";
import { awaitHit } from "../../scenes/log-lines.ts";
import { startWorld } from "../../scenes/world.ts";

let names = 0;
let type: string;

const { registry, mirror } = await startWorld(
  {
    freshness: { versions: "0" },
  },
  { limits: { answer: 3_000 } },
);
// Code that runs for the first time may take longer than this answer may.
const warm = await registry.publish({ type: "warm", version: "1.0.0" });
const { filename } = warm.archive("linux_amd64");
const folder = "/providers/registry.terraform.io/acme/warm";
await awaitHit(mirror, `${folder}/${filename}`);

/** Version 1.0.0 is known to the mirror, 2.0.0 came out since. */
beforeEach(async () => {
  registry.heal();
  type = `stale${(names += 1)}`;
  await registry.publish({ type, version: "1.0.0", size: 100_000 });
  expect((await ask("index.json")).status).toBe(200);
  expect((await ask("1.0.0.json")).status).toBe(200);
  await registry.publish({ type, version: "2.0.0" });
});

function ask(document: string) {
  const path = `/providers/registry.terraform.io/acme/${type}/${document}`;
  return mirror.get(path);
}

describe("while the list of versions cannot be had", () => {
  it.each([
    ["an error", status(500)],
    ["nothing", hang],
  ])(
    "because of %s, all clients get the known one with its age",
    async (_, fault) => {
      registry.script("versions", fault);
      const asked = Array.from({ length: 5 }, () => ask("index.json"));
      for (const answer of await Promise.all(asked)) {
        expect(answer.status).toBe(200);
        expect(answer.json()).toEqual({ versions: { "1.0.0": {} } });
        expect(answer.headers.age).toMatch(/^\d+$/);
      }
    },
  );

  it("a version that is not in the known one is asked for, not absent", async () => {
    registry.script("versions", status(500));
    const answer = await ask("2.0.0.json");
    expect(answer.status).toBe(200);
  });

  it("a version that is in none is absent only when the origin says so", async () => {
    registry.script("versions", status(500));
    expectRefusal(await ask("3.0.0.json"), 404, "not-found");
  });

  it("and neither can a package, a version that is not known is a failure", async () => {
    registry.script("versions", status(500));
    registry.script("package", status(500));
    expectRefusal(await ask("2.0.0.json"), 502, "origin-status");
    const known = await ask("1.0.0.json");
    expect(known.status).toBe(200);
    expect(known.headers.age).toMatch(/^\d+$/);
  });
});
