//! An answer as a value of your own type: `cargo run --example structured_output [PATH-OF-CLI]`.

mod cli;

use pilothouse::query;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct City {
    name: String,
    population: u64,
}

#[tokio::main]
async fn main() -> Result<(), pilothouse::Error> {
    let options = cli::options().structured::<City>();
    let city: City = query("Which city is the capital of France?", options).await?.structured()?;
    cli::say(format!("{} has {} people", city.name, city.population));
    Ok(())
}
