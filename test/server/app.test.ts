import { describe, expect, it } from "vitest";
import { AuthenticationScene } from "../scenes/authentication-scene.ts";
import { outcomeOf } from "../scenes/provider-requests.ts";

const scene = await AuthenticationScene.start();

/** The check that comes first answers a request with two faults. */
describe("of what is wrong with a request", () => {
  it.each<[string, string, () => Promise<string>]>([
    [
      "its method before its token",
      "405 method-not-allowed",
      async () => outcomeOf(await scene.mirror.get("/x", { method: "PUT" })),
    ],
    [
      "its raw path before its token",
      "400 malformed-request",
      async () => outcomeOf(await scene.mirror.get("/%41/x")),
    ],
    [
      "its length before its method",
      "414 uri-too-long",
      async () =>
        outcomeOf(
          await scene.mirror.get(`/${"x".repeat(5_000)}`, { method: "PUT" }),
        ),
    ],
    [
      "its token before whether there is such a page",
      "401 token-needed",
      async () => outcomeOf(await scene.mirror.get("/nothing")),
    ],
    [
      "its address before its origin",
      "400 malformed-address",
      async () =>
        outcomeOf(
          await scene.withToken("/providers/other.example/A/b/index.json"),
        ),
    ],
  ])("%s", async (_, wanted, ask) => {
    expect(await ask()).toBe(wanted);
  });
});
