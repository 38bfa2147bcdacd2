/** Programs in languages that are compiled. */

/** For programs that take a second: they are not compiled to the last. */
export const QUICK_JAVA: readonly string[] = [
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
];

export const CSHARP_PROJECT = `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup>
  <OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>
  <ImplicitUsings>enable</ImplicitUsings><Nullable>enable</Nullable>
</PropertyGroup></Project>`;
