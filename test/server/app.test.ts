import { describe, expect, it } from "vitest";
import { AuthenticationScene } from "../scenes/authentication-scene.ts";
import { awaitLineOf } from "../scenes/log-lines.ts";
import { awaitAudit, outcomeOf } from "../scenes/provider-requests.ts";

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

describe("a refusal from any layer", () => {
  it.each([
    ["the raw checks", "/%41/x", 400],
    ["authentication", "/nothing", 401],
    ["the table of URLs", "/nothing", 404],
    ["a protocol", "/providers/other.example/a/b/index.json", 451],
  ])("%s: it has its id and its line in the log", async (who, path, status) => {
    const answer =
      who === "authentication"
        ? await scene.mirror.get(path)
        : await scene.withToken(path);
    expect(answer.status).toBe(status);
    const { requestId } = answer.json() as { requestId: string };
    expect(answer.headers["x-request-id"]).toBe(requestId);
    expect(await awaitLineOf(scene.mirror, answer)).toMatchObject({
      path,
      status,
      outcome: { 400: "malformed", 404: "not-found" }[status] ?? "refused",
      client: "127.0.0.1",
    });
  });

  it("is audited with the name of the token, which was checked before", async () => {
    const path = "/providers/audited.example/a/b/1.0.0.json";
    const answer = await scene.withToken(path);
    const id = answer.headers["x-request-id"];
    expect(
      await awaitAudit(scene.mirror, ({ requestId }) => requestId === id),
    ).toMatchObject([
      {
        event: "refused",
        token: "ci runner",
        client: "127.0.0.1",
        provider: "audited.example/a/b",
        version: "1.0.0",
      },
    ]);
  });
});
