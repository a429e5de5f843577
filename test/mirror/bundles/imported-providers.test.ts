import { expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  listedIn,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { RegistryRequests } from "../../scenes/registry-requests.ts";
import { connectedSite, exportBundle } from "./bundles.ts";

const authority = await createAuthority();
const full = await startRegistry({ authority });
const empty = await startRegistry({ authority });

it("a provider that the origin does not have is listed as a bundle brought it, and is absent once nothing of it is stored", async () => {
  await full.publish({ version: "1.0.0" });
  const from = connectedSite(authority, full);
  const only = ["--platform", "linux_amd64", "acme/widget@1.0.0"];
  const bundle = await exportBundle(from, ...only);
  const mirror = await startMirror({ config: originsOf(authority, empty) });
  const ask = requestsFor(mirror, "widget");
  const facade = new RegistryRequests(mirror, "widget");
  expect(outcomeOf(await ask.index())).toBe("404 not-found");
  const imported = await runCommand(mirror, "import", bundle);
  expect(imported).toMatchObject({ status: 0 });
  await expect.poll(() => ask.listed()).toEqual(["1.0.0"]);
  expect(listedIn(await facade.versions())).toEqual(["1.0.0"]);
  expect(await ask.outcome("1.0.0")).toBe("200");
  expect(await ask.delivery("1.0.0")).toBe("200");
  const purged = await runCommand(mirror, "prune", "acme/widget");
  expect(purged).toMatchObject({ status: 0 });
  expect(await ask.outcome("1.0.0")).toBe("404 not-found");
  expect(outcomeOf(await ask.index())).toBe("404 not-found");
  await mirror.stop();
});
