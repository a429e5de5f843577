import { z } from "zod";
import { writeDurably } from "./durable-file.ts";
import { readJsonFile } from "./json-text.ts";
import { stagingPath, type StoreLayout } from "./layout.ts";

const shape = z.object({ replica: z.uuid() });

/**
 * Returns the id of this storage directory among all replicas. It is created with the first call and lasts as long as
 * the directory.
 */
export async function readReplicaId(layout: StoreLayout): Promise<string> {
  const known = await read(layout);
  if (known !== undefined) return known;
  const replica = crypto.randomUUID();
  const staged = stagingPath(layout, "replica");
  const text = `${JSON.stringify({ replica })}\n`;
  await writeDurably(staged, layout.replicaId, text);
  return replica;
}

async function read(layout: StoreLayout): Promise<string | undefined> {
  const remedy =
    "restore it from a backup, or remove it, so that it is made again";
  const said = await readJsonFile(shape, layout, layout.replicaId, remedy);
  return said?.replica;
}
