/** Options for compiled languages. */

/** For programs that run for a second: the optimising compiler is off. */
export const QUICK_JAVA: readonly string[] = [
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
];

export const CSHARP_PROJECT = `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup>
  <OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>
  <ImplicitUsings>enable</ImplicitUsings><Nullable>enable</Nullable>
</PropertyGroup></Project>`;
