//! The program `molecules`: options, exit codes, reports and files of its commands.

mod all_commands;
mod certify;
mod checkpoints;
mod clashes;
mod convert;
mod inspect;
mod inspect_recipe;
mod pack;
mod relax;
mod run_program;
mod schema;
