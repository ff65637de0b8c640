"""What private outputs tell about the true values behind them all."""
