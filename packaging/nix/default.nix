# leakgate for Nix, from the checkout that this file lies in: nix-build packaging/nix
{ pkgs ? import <nixpkgs> { } }:
pkgs.stdenv.mkDerivation {
  pname = "leakgate";
  version = builtins.head (builtins.match ".*project\\(leakgate VERSION ([0-9.]+).*" (builtins.readFile ../../CMakeLists.txt));
  src = ../..;
  nativeBuildInputs = with pkgs; [ cmake ninja ];
  buildInputs = with pkgs; [ boost bzip2 cli11 elfutils fmt gtest minizip nlohmann_json pugixml sqlite tl-expected xxHash xz zlib zstd ];
  cmakeFlags = [ "-DLEAKGATE_BUILD_TESTS=OFF" "-DLEAKGATE_BUILD_EXAMPLES=OFF" ];
}
