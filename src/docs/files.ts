/**
 * The files for operators, served at `/docs/files/:file` and printed by the
 * command `file`. The environment file is written by `deno task docs`.
 */
import alerts from "./files/alerts.yml" with { type: "text" };
import caddyfile from "./files/Caddyfile" with { type: "text" };
import compose from "./files/compose.yaml" with { type: "text" };
import dashboard from "./files/dashboard.json" with { type: "text" };
import dockerfile from "./files/Dockerfile" with { type: "text" };
import nginx from "./files/nginx.conf" with { type: "text" };
import admin from "./files/seller-admin" with { type: "text" };
import environment from "./files/seller-interface.env" with { type: "text" };
import unit from "./files/seller-interface.service" with { type: "text" };

export interface OperatorFile {
  name: string;
  /** Media type. */
  type: string;
  about: string;
  text: string;
}

const file = (name: string, about: string, text: string) => ({
  name,
  type: "text/plain",
  about,
  text,
});

export const OPERATOR_FILES: readonly OperatorFile[] = [
  file("seller-interface.service", "unit for systemd", unit),
  file("seller-interface.env", "all settings with their defaults", environment),
  file("seller-admin", "script that runs a command as the service", admin),
  file("nginx.conf", "reverse proxy with nginx", nginx),
  file("Caddyfile", "reverse proxy with Caddy", caddyfile),
  file("Dockerfile", "container image", dockerfile),
  file("compose.yaml", "service, PostgreSQL and MinIO in containers", compose),
  {
    ...file("alerts.yml", "alert rules for Prometheus", alerts),
    type: "application/yaml",
  },
  {
    ...file("dashboard.json", "dashboard for Grafana", dashboard),
    type: "application/json",
  },
];
