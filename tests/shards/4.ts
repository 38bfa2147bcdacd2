import { importShard } from "./shard.ts";

await importShard("4");
