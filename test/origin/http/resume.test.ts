import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { ProvenderError } from "../../../src/errors/index.ts";
import { barrier } from "../../fakes/barrier.ts";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import { startHome, never, readAll } from "../clients.ts";

const bytes = randomBytes(500_000);

const { home, clientOf, urlOf } = await startHome({ "/archive": bytes });

afterEach(() => {
  home.ranges = true;
  home.etags = true;
});

async function receive(path = "/archive", stalled = 30_000): Promise<Buffer> {
  const client = clientOf({}, { stalled });
  const { body } = await client.openArchive(urlOf(path), never);
  return readAll(body);
}

function rangesAsked(): readonly (string | undefined)[] {
  return home.requests.list("other").map(({ headers }) => headers.range);
}

/** Cuts the whole archive; its rest is as it should be, or as `rest` makes it. */
function cutFirst(rest: Fault = faults.normal): Fault {
  return (reply, request) => {
    const isWhole = request.headers.range === undefined;
    return (isWhole ? faults.cut(100_000) : rest)(reply, request);
  };
}

describe("an archive that is cut", () => {
  it.each([
    ["with a length", faults.cut(100_000)],
    ["in chunks", faults.cutChunked(100_000)],
    ["before its first byte", faults.cut(0)],
  ])("%s goes on where it was cut", async (_, cut) => {
    home.script("other", [cut]);
    expect((await receive()).equals(bytes)).toBe(true);
    const [, again] = home.requests.list("other");
    expect(again?.headers.range).toMatch(/^bytes=\d+-$/);
    expect(again?.headers["if-range"]).toMatch(/^"[^"]+"$/);
    expect(home.requests.count()).toBe(2);
  });

  it("because it stood still each time gets all the time in the end", async () => {
    const stuck = barrier();
    home.script("other", stuck.afterBytes(100_000));
    const received = receive("/archive", 200);
    await stuck.arrived(4);
    setTimeout(() => stuck.release(), 1_000);
    expect((await received).equals(bytes)).toBe(true);
    const [first, ...rest] = rangesAsked();
    expect([first, rest[0], rest.length]).toEqual([
      ...[undefined, "bytes=100000-", 3],
    ]);
  });

  it("again and again goes on, three times at most", async () => {
    home.script("other", Array(3).fill(faults.cut(70_000)) as Fault[]);
    expect((await receive()).equals(bytes)).toBe(true);
    expect(rangesAsked()).toHaveLength(4);
    home.requests.clear();
    home.script("other", faults.cut(70_000));
    await expect(receive()).rejects.toThrow(/cut short/);
    expect(rangesAsked()).toHaveLength(4);
  });

  it("is resumed in spite of failures that pass", async () => {
    const passing = [faults.close, faults.status(503)];
    home.script("other", [faults.cut(100_000), ...passing]);
    expect((await receive()).equals(bytes)).toBe(true);
  });

  it("is asked for again where it was asked for first, redirects and all", async () => {
    const moved = faults.onlyFor(/first/, faults.redirect("/archive"));
    const cut = faults.onlyFor(/archive/, cutFirst());
    home.script("other", faults.all(moved, cut));
    expect((await receive("/first")).equals(bytes)).toBe(true);
    const paths = home.requests.list("other").map(({ path }) => path);
    expect(paths).toEqual(["/first", "/archive", "/first", "/archive"]);
  });

  it("is taken from the beginning by a server that knows no ranges", async () => {
    home.ranges = false;
    home.script("other", [faults.cut(100_000), faults.cut(200_000)]);
    expect((await receive()).equals(bytes)).toBe(true);
    expect(rangesAsked()).toHaveLength(3);
  });
});

describe("an archive that is cut is given up", () => {
  it.each<[string, Fault]>([
    ["no ETag", faults.normal],
    ["a weak ETag", faults.header("ETag", 'W/"1"')],
    ["an ETag without quotes", faults.header("ETag", "1")],
  ])("with %s", async (_, tag) => {
    home.etags = false;
    home.script("other", [faults.all(tag, faults.cut(100_000))]);
    await expect(receive()).rejects.toThrow(/cut short/);
    expect(rangesAsked()).toHaveLength(1);
  });

  it("when it became another one", async () => {
    const other = faults.all(
      faults.body(randomBytes(500_000)),
      faults.header("ETag", '"another"'),
    );
    const whole: Fault = (reply) => ({ ...reply, status: 200 });
    home.script("other", [faults.cut(100_000), faults.all(whole, other)]);
    await expect(receive()).rejects.toThrow(/it changed/);
    home.script("other", [faults.cut(100_000), other]);
    await expect(receive()).rejects.toThrow(/it changed/);
  });

  it.each([
    ...["bytes 99999-499999/500000", "bytes 100000-499998/500000"],
    ...["bytes 100000-500000/500001", "bytes 100000-499999/*", ""],
  ])("when the answer to its rest says it is %j", async (text) => {
    home.script("other", cutFirst(faults.header("Content-Range", text)));
    await expect(receive()).rejects.toThrow(/its range is not the rest/);
    expect(rangesAsked()).toHaveLength(2);
  });

  it.each<[string, Fault]>([
    ["404", faults.status(404)],
    ["a page for people", faults.html],
    ["a redirect to a private address", faults.redirect("https://10.0.0.1/")],
  ])("when its rest is answered with %s", async (_, fault) => {
    home.script("other", [faults.cut(100_000), fault]);
    await expect(receive()).rejects.toThrow(ProvenderError);
    expect(rangesAsked()).toHaveLength(2);
  });

  it("when its rest has more bytes than there are left", async () => {
    const endless = faults.all(faults.grown(10), faults.chunked);
    home.script("other", [faults.cut(100_000), endless]);
    await expect(receive()).rejects.toThrow(/beyond its announced end/);
  });
});
