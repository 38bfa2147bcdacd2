/**
 * The chapters of the handbook, in the order of its contents. Files for
 * contributors are in the same folder and are not served.
 */
import api from "./api.md" with { type: "text" };
import backup from "./backup.md" with { type: "text" };
import capacity from "./capacity.md" with { type: "text" };
import categories from "./categories.md" with { type: "text" };
import changes from "./changes.md" with { type: "text" };
import client from "./client.md" with { type: "text" };
import commands from "./commands.md" with { type: "text" };
import deployment from "./deployment.md" with { type: "text" };
import errors from "./errors.md" with { type: "text" };
import examples from "./examples.md" with { type: "text" };
import figures from "./figures.md" with { type: "text" };
import glossary from "./glossary.md" with { type: "text" };
import imageStorage from "./image-storage.md" with { type: "text" };
import images from "./images.md" with { type: "text" };
import imports from "./imports.md" with { type: "text" };
import keys from "./keys.md" with { type: "text" };
import monitoring from "./monitoring.md" with { type: "text" };
import json from "./json.md" with { type: "text" };
import notices from "./notices.md" with { type: "text" };
import operatorApi from "./operator-api.md" with { type: "text" };
import prices from "./prices.md" with { type: "text" };
import products from "./products.md" with { type: "text" };
import quickStart from "./quick-start.md" with { type: "text" };
import reliability from "./reliability.md" with { type: "text" };
import review from "./review.md" with { type: "text" };
import safety from "./safety.md" with { type: "text" };
import scaling from "./scaling.md" with { type: "text" };
import security from "./security.md" with { type: "text" };
import spreadsheet from "./spreadsheet.md" with { type: "text" };
import troubleshooting from "./troubleshooting.md" with { type: "text" };
import settings from "./settings.md" with { type: "text" };
import upload from "./upload.md" with { type: "text" };
import webhooks from "./webhooks.md" with { type: "text" };

export interface Chapter {
  /** The name of its file without `.md`, and its path below `/docs`. */
  name: string;
  /** Markdown that begins with the title. */
  text: string;
}

export interface ChapterGroup {
  title: string;
  chapters: readonly Chapter[];
}

export const CHAPTER_GROUPS: readonly ChapterGroup[] = [
  {
    title: "For sellers",
    chapters: [
      { name: "quick-start", text: quickStart },
      { name: "upload", text: upload },
      { name: "imports", text: imports },
      { name: "prices", text: prices },
      { name: "products", text: products },
      { name: "safety", text: safety },
      { name: "spreadsheet", text: spreadsheet },
      { name: "errors", text: errors },
      { name: "json", text: json },
      { name: "images", text: images },
      { name: "webhooks", text: webhooks },
      { name: "keys", text: keys },
      { name: "client", text: client },
      { name: "examples", text: examples },
      { name: "api", text: api },
      { name: "glossary", text: glossary },
    ],
  },
  {
    title: "For operators",
    chapters: [
      { name: "deployment", text: deployment },
      { name: "settings", text: settings },
      { name: "commands", text: commands },
      { name: "operator-api", text: operatorApi },
      { name: "categories", text: categories },
      { name: "review", text: review },
      { name: "monitoring", text: monitoring },
      { name: "notices", text: notices },
      { name: "troubleshooting", text: troubleshooting },
      { name: "backup", text: backup },
      { name: "scaling", text: scaling },
      { name: "image-storage", text: imageStorage },
      { name: "capacity", text: capacity },
      { name: "changes", text: changes },
      { name: "reliability", text: reliability },
      { name: "security", text: security },
      { name: "figures", text: figures },
    ],
  },
];

export const CHAPTERS: readonly Chapter[] = CHAPTER_GROUPS.flatMap((
  { chapters },
) => chapters);
