import { readFile } from "node:fs/promises";
import { z } from "zod";
import { createDurably } from "./durable-file.ts";
import { unlessMissing } from "./file-failure.ts";
import { stagingPath, type StoreLayout } from "./layout.ts";

const shape = z.object({ replica: z.uuid() });

/** What tells a storage directory from those of all other replicas; made with the first call, and as lasting as the directory. */
export async function readReplicaId(layout: StoreLayout): Promise<string> {
  const known = await read(layout);
  if (known !== undefined) return known;
  const replica = crypto.randomUUID();
  const staged = stagingPath(layout, "replica");
  const text = `${JSON.stringify({ replica })}\n`;
  const isFirst = await createDurably(staged, layout.replicaId, text);
  return isFirst ? replica : ((await read(layout)) ?? replica);
}

async function read({ replicaId }: StoreLayout): Promise<string | undefined> {
  const text = await readFile(replicaId, "utf8").catch(unlessMissing);
  return text && shape.parse(JSON.parse(text)).replica;
}
