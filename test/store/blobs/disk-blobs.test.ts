import { makeLayout, openBlobs } from "../stores.ts";
import { itIsABlobStore } from "./blob-compliance.ts";

itIsABlobStore(async () => {
  const layout = await makeLayout();
  const open = () => openBlobs(layout);
  return {
    async create(sha256, bytes) {
      const blobs = open();
      const spool = await blobs.createSpool();
      await spool.append(bytes);
      await blobs.commit(spool, sha256);
      await spool.release();
    },
    async read(sha256) {
      const blob = await open().open(sha256);
      if (blob === undefined) return undefined;
      await using handle = blob.handle;
      return await handle.readFile();
    },
    size: (sha256) => open().size(sha256),
    remove: (sha256) => open().delete(sha256),
    async list() {
      const found = [];
      for await (const { sha256 } of open().list())
        if (sha256 !== undefined) found.push(sha256);
      return found;
    },
  };
});
