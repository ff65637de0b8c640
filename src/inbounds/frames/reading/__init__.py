"""Reading private columns back: estimates of means, quantiles and histograms by group."""
