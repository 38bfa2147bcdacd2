/** A small chart with one bar for each hour; its series are stacked. */
import type { Hour } from "../../client/mod.ts";
import { formatCount } from "../lib/format.ts";

const WIDTH = 480;
const HEIGHT = 96;
const GAP = 3;

export interface Series {
  name: Exclude<keyof Hour, "from">;
  label: string;
  tone: "good" | "bad" | "busy";
}

export function HourChart({ title, hours, series }: {
  title: string;
  hours: readonly Hour[];
  /** The first series is at the bottom. */
  series: readonly Series[];
}) {
  const valueOf = (hour: Hour, { name }: Series) => hour[name];
  const sum = (one: Series) =>
    hours.reduce((all, hour) => all + valueOf(hour, one), 0);
  // bounded: the hours of one day
  const tallest = scaleFor(Math.max(
    1,
    ...hours.map((hour) =>
      series.reduce((all, one) => all + valueOf(hour, one), 0)
    ),
  ));
  const step = WIDTH / Math.max(1, hours.length);
  return (
    <figure class="card chart">
      <figcaption class="row">
        <strong class="grow">{title}</strong>
        {series.map((one) => (
          <span key={one.name} class={`key ${one.tone}`}>
            {formatCount(sum(one))} {one.label}
          </span>
        ))}
      </figcaption>
      <div class="scaled">
        <p class="scale quiet" aria-hidden="true">
          <span>{formatCount(tallest)}</span>
          <span>{tallest > 1 ? formatCount(tallest / 2) : ""}</span>
          <span>0</span>
        </p>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title} of the last ${hours.length} hours: ${
            series.map((one) => `${formatCount(sum(one))} ${one.label}`).join(
              ", ",
            )
          }; the scale ends at ${formatCount(tallest)} in one hour.`}
        >
          {hours.map((hour, i) => (
            <Bar
              key={hour.from}
              x={i * step}
              width={step - GAP}
              segments={series.map((one) => ({
                tone: one.tone,
                height: valueOf(hour, one) / tallest * (HEIGHT - 2),
              }))}
              title={`${hourOf(hour)}: ${
                series.map((one) =>
                  `${formatCount(valueOf(hour, one))} ${one.label}`
                )
                  .join(", ")
              }`}
            />
          ))}
          <line
            class="grid"
            x1="0"
            x2={WIDTH}
            y1={HEIGHT / 2}
            y2={HEIGHT / 2}
          />
          <line
            class="axis"
            x1="0"
            x2={WIDTH}
            y1={HEIGHT - 0.5}
            y2={HEIGHT - 0.5}
          />
        </svg>
      </div>
      <p class="row quiet" aria-hidden="true">
        <span class="grow">{hours[0] && hourOf(hours[0])}</span>
        <span>{hours.length > 0 && hourOf(hours[hours.length - 1])}</span>
      </p>
    </figure>
  );
}

/**
 * The end of the scale for a maximum: the next of 1, 2, 4, 10, 20, 40, 100 and
 * so on. Except for 1, half of the end is a whole number.
 */
function scaleFor(maximum: number): number {
  for (let unit = 1;; unit *= 10) {
    for (const step of [1, 2, 4]) {
      if (step * unit >= maximum) return step * unit;
    }
  }
}

function Bar({ x, width, segments, title }: {
  x: number;
  width: number;
  segments: readonly { tone: string; height: number }[];
  title: string;
}) {
  let y = HEIGHT;
  return (
    <g>
      <title>{title}</title>
      <rect class="hit" x={x} y={0} width={width} height={HEIGHT} />
      {segments.map(({ tone, height }) => {
        y -= height;
        return (
          <rect
            key={tone}
            class={tone}
            x={x}
            y={y}
            width={width}
            height={height}
          />
        );
      })}
    </g>
  );
}

/** The start of an hour in the browser's time zone: `14:00`. */
function hourOf({ from }: Hour): string {
  return `${String(new Date(from).getHours()).padStart(2, "0")}:00`;
}
